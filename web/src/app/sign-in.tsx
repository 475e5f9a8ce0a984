// Sign-in page: opens a session with the ticket from a sign-in link, or with the server's token.
import { Button, TextInput } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { useTitle } from '../ui/parts';

/** Credentials for opening a session. */
type Secret = { token: string } | { ticket: string };

/** Parses pasted text: either a link with a ticket, or the token. */
export const parseSecret = (pasted: string): Secret => {
  const ticket = /[?&]ticket=([^&\s]+)/.exec(pasted)?.[1];
  return ticket ? { ticket } : { token: pasted.trim() };
};

/** Opens a session. Returns an error message, or null on success. */
async function signIn(secret: Secret): Promise<string | null> {
  const response = await fetch('/login', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(secret),
  }).catch(() => null);
  if (!response) return 'Cannot reach the server. Check that it is running.';
  if (response.ok) return null;
  const problem = (await response.json().catch(() => null)) as { detail?: string } | null;
  return problem?.detail ?? `The server returned status ${response.status}.`;
}

/**
 * Tries the ticket in the URL once. If there is none, or if it is rejected, prompts for a link or
 * token.
 */
export function SignIn({ onSignedIn }: { onSignedIn: () => void }) {
  useTitle('Sign in');
  const [error, setError] = useState<string | null>(null);
  const tried = useRef(false);
  const submit = async (text: string) => {
    const failure = await signIn(parseSecret(text));
    setError(failure);
    if (!failure) onSignedIn();
  };
  useEffect(() => {
    if (tried.current || !location.search.includes('ticket=')) return;
    tried.current = true;
    void submit(location.search);
  });
  return (
    <main className="page" style={{ maxWidth: 560, paddingTop: 80 }}>
      <section className="card stack">
        <h1>Sign in to Leadline</h1>
        <p>
          On the server host, run <code>leadline login</code> and open the link that it prints, or
          enter the token.
        </p>
        <form
          action={(form: FormData) => submit(String(form.get('secret') ?? ''))}
          className="row"
          style={{ alignItems: 'flex-start' }}
        >
          <TextInput
            name="secret"
            label="Link or token"
            error={
              error && (
                <>
                  {error} <a href="#get-a-token">How to get a link or token</a>
                </>
              )
            }
            required
            autoFocus
            autoComplete="off"
            style={{ flex: 1 }}
          />
          <Button type="submit" variant="filled" mt={20}>
            Sign in
          </Button>
        </form>
        <section id="get-a-token" aria-label="Get a link or token" className="stack mute small">
          <p>Each link can be used only once. To get a new link or look up the token:</p>
          <ul style={{ margin: 0, paddingLeft: 18 }}>
            <li>
              Run <code>leadline login</code> on the server host, as the user that runs the server.
            </li>
            <li>
              In Docker, run <code>docker compose exec leadline leadline login</code>.
            </li>
            <li>
              Read the file <code>token</code> in the server’s data directory. Only its owner can.
            </li>
          </ul>
        </section>
      </section>
    </main>
  );
}
