// Shell command with a copy button.
import { copyText } from './clipboard';

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
        Copy
      </button>
    </span>
  );
}
