// The signed-in user's permissions, and sign-out.
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { sessionQuery } from '../api/queries';
import { Hint } from '../ui/hint';

export function ReadOnlyChip() {
  const session = useQuery(sessionQuery);
  if (!session.data?.read_only) return null;
  return (
    <Hint
      className="chip"
      explanation="Signed in with the read-only token. Runs cannot be started."
    >
      Read-only
    </Hint>
  );
}

/** Ends this browser's session. */
export function SignOut() {
  const session = useQuery(sessionQuery);
  if (!session.data?.can_sign_out) return null;
  const signOut = async () => {
    await fetch('/logout', { method: 'POST' }).catch(() => null);
    location.assign('/login');
  };
  return (
    <Button variant="default" onClick={signOut} style={{ justifySelf: 'start' }}>
      Sign out
    </Button>
  );
}
