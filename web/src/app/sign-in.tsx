// What stands here when the server does not know this browser: open the printed link, or paste its token.
import { Button, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTitle } from '../ui/parts';

/** The token out of what was pasted: the token itself, or the link that carries it. */
export const tokenOf = (pasted: string): string =>
  /[?&]token=([^&\s]+)/.exec(pasted)?.[1] ?? pasted.trim();

/** Shows a token to the server, which gives this browser its cookie for it. Returns what is wrong; null when nothing is. */
async function refused(token: string): Promise<string | null> {
  const answer = await fetch(`/login?token=${encodeURIComponent(token)}`).catch(() => null);
  if (!answer) return 'The server does not answer.';
  return answer.ok ? null : 'The server does not know this token.';
}

/** The way in; the address stays, so that what was asked for is there when the server knows the browser. */
export function SignIn({ onSignedIn }: { onSignedIn: () => void }) {
  useTitle('Sign in');
  const [fault, setFault] = useState<string | null>(null);
  const enter = async (form: FormData) => {
    const found = await refused(tokenOf(String(form.get('token') ?? '')));
    setFault(found);
    if (!found) onSignedIn();
  };
  return (
    <main className="page" style={{ maxWidth: 560, paddingTop: 80 }}>
      <section className="card stack">
        <h1>This browser has no token yet</h1>
        <p>
          When Leadline starts it prints a link with <code>/login?token=…</code>. Open that link
          once; the browser then stays signed in.
        </p>
        <form action={enter} className="row" style={{ alignItems: 'flex-end' }}>
          <TextInput
            name="token"
            label="Or paste the link or the token here"
            error={fault}
            required
            autoFocus
            autoComplete="off"
            className="push"
            style={{ flex: 1 }}
          />
          <Button type="submit" variant="filled">
            Sign in
          </Button>
        </form>
        <p className="mute small">
          The token is also in the file <code>token</code> in the server’s data directory, readable
          by its owner only.
        </p>
      </section>
    </main>
  );
}
