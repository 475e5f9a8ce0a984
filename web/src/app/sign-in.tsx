// Sign-in page: open the printed link, or paste its token.
import { Button, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTitle } from '../ui/parts';

/** Extracts the token from pasted text, which is the token or the link that contains it. */
export const tokenOf = (pasted: string): string =>
  /[?&]token=([^&\s]+)/.exec(pasted)?.[1] ?? pasted.trim();

/** Exchanges the token for a session cookie. Returns the error message, or null. */
async function signIn(token: string): Promise<string | null> {
  const response = await fetch(`/login?token=${encodeURIComponent(token)}`).catch(() => null);
  if (!response) return 'Cannot reach the server. Check that it is running.';
  return response.ok ? null : 'Invalid token. Copy it again from the server output.';
}

/** Keeps the URL, so that a reload after signing in shows the requested page. */
export function SignIn({ onSignedIn }: { onSignedIn: () => void }) {
  useTitle('Sign in');
  const [error, setError] = useState<string | null>(null);
  const submit = async (form: FormData) => {
    const failure = await signIn(tokenOf(String(form.get('token') ?? '')));
    setError(failure);
    if (!failure) onSignedIn();
  };
  return (
    <main className="page" style={{ maxWidth: 560, paddingTop: 80 }}>
      <section className="card stack">
        <h1>Sign in to Leadline</h1>
        <p>
          At startup, Leadline prints a link with <code>/login?token=…</code>. Open it once to stay
          signed in.
        </p>
        <form action={submit} className="row" style={{ alignItems: 'flex-end' }}>
          <TextInput
            name="token"
            label="Link or token"
            error={error}
            required
            autoFocus
            autoComplete="off"
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
