// A shell command that can be copied.
import { copyText } from './clipboard';

/** The command with its button. */
export function Command({ command }: { command: string }) {
  return (
    <span className="command">
      <code>{command}</code>
      <button
        type="button"
        className="chip no-print"
        aria-label={`Copy ${command}`}
        onClick={() => void copyText('Command', command)}
      >
        copy
      </button>
    </span>
  );
}
