// The keys, and how a result is read.
import { Modal } from '@mantine/core';
import { KEYS, pageKeys } from './keys';

/** The help. */
export function Help({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const own = opened ? pageKeys().filter(([key]) => !KEYS.some(([known]) => known === key)) : [];
  return (
    <Modal opened={opened} onClose={onClose} title="Keys and help" size="lg">
      <div className="stack">
        <dl className="keys">
          {[...KEYS, ...own].map(([key, does]) => (
            <KeyLine key={key} keys={key} does={does} />
          ))}
          <KeyLine keys="Ctrl Enter" does="start the run (New run)" />
        </dl>
        <p>
          The <b>depth gauge</b> shows what was issued, what of it went past the page cache, and
          what reached the device. A flow that ends in the page cache was answered from memory: that
          is the speed of memory, not of the disk.
        </p>
        <p className="mute">
          Everything here can be done with curl:{' '}
          <a href="/api/docs/">the interface is described here</a>.
        </p>
      </div>
    </Modal>
  );
}

function KeyLine({ keys, does }: { keys: string; does: string }) {
  return (
    <>
      <dt>
        {keys.split(' ').map((key) => (
          <kbd key={key} style={{ marginRight: 4 }}>
            {key}
          </kbd>
        ))}
      </dt>
      <dd>{does}</dd>
    </>
  );
}
