// Help: keyboard shortcuts, and how to read a result.
import { Dialog } from '../ui/dialog';
import { allKeys } from './keys';
import { SignOut } from './session';

export function Help({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const keys = opened ? allKeys() : [];
  return (
    <Dialog opened={opened} onClose={onClose} title="Keyboard shortcuts and help" size="lg">
      <div className="stack">
        <dl className="keys">
          {keys.map(([keys, action]) => (
            <KeyRow key={keys} keys={keys} action={action} />
          ))}
        </dl>
        <p>
          The <b>depth gauge</b> shows how much I/O was issued, how much got past the page cache,
          and how much reached the device. I/O that stops at the page cache was served from memory:
          the result measures memory, not the disk. The lead hangs in the layer that served the most
          I/O.
        </p>
        <p className="mute">
          All features are also available over HTTP. See the <a href="/api/docs/">API reference</a>.
        </p>
        <SignOut />
      </div>
    </Dialog>
  );
}

function KeyRow({ keys, action }: { keys: string; action: string }) {
  return (
    <>
      <dt>
        {keys.split(' ').map((key) => (
          <kbd key={key} style={{ marginRight: 4 }}>
            {key}
          </kbd>
        ))}
      </dt>
      <dd>{action}</dd>
    </>
  );
}
