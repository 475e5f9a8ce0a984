// I/O path: buffered file, direct file, or raw device.
import { memo } from 'react';
import { IO_MODES, ioModeOf, setIoMode } from '../../model/job/io-mode';
import { Card } from '../../ui/parts';
import type { JobForm } from './use-job-form';

export const IoModeCard = memo(({ form: { job, edits } }: { form: JobForm }) => {
  const chosen = ioModeOf(job);
  return (
    <Card title="I/O path">
      <fieldset className="io-modes">
        <legend className="hidden">I/O path</legend>
        {IO_MODES.map(({ mode, title, description }) => (
          <label key={mode} className={mode === chosen ? 'on' : ''}>
            <input
              type="radio"
              name="io-mode"
              checked={mode === chosen}
              onChange={() => edits.edit((text, active) => setIoMode(text, active, job, mode))}
            />
            <span>
              <b>{title}</b>
              <span className="mute">{description}</span>
            </span>
          </label>
        ))}
      </fieldset>
      {chosen === null && (
        <p className="error" style={{ marginTop: 8 }}>
          Choose one. There is no default, because the choice determines what is measured.
        </p>
      )}
    </Card>
  );
});
