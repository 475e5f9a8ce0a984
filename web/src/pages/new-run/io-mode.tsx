// The first choice: which way to the disk.
import { IO_MODES, type IoMode, ioModeOf, setIoMode } from '../../model/job/job-form';
import { Card } from '../../ui/parts';
import type { JobDraft } from './use-job';

/** Three plain decisions. */
export function IoModeCard({ draft: { text, setText, active, job } }: { draft: JobDraft }) {
  const chosen = ioModeOf(job);
  const choose = (way: IoMode) => setText(setIoMode(text, active, job, way));
  return (
    <Card title="Which way to the disk?">
      <fieldset className="ways">
        <legend className="hidden">Which way to the disk?</legend>
        {IO_MODES.map(({ way, title, description }) => (
          <label key={way} className={way === chosen ? 'on' : ''}>
            <input type="radio" name="way" checked={way === chosen} onChange={() => choose(way)} />
            <span>
              <b>{title}</b>
              <span className="mute">{description}</span>
            </span>
          </label>
        ))}
      </fieldset>
      {chosen === null && (
        <p className="tone-bad" style={{ color: 'var(--bad-text)', marginTop: 8 }}>
          Choose one: there is no default, because it decides what the number means.
        </p>
      )}
    </Card>
  );
}
