// The selected run numbers, each with a remove button. Includes numbers that match no run.
interface RunChipsProps {
  numbers: readonly number[];
  onRemove: (number: number) => void;
}

export function RunChips({ numbers, onRemove }: RunChipsProps) {
  return (
    <ul className="row tight run-chips" aria-label="Selected runs">
      {numbers.map((number) => (
        <li key={number}>
          <button
            type="button"
            className="chip"
            aria-label={`Remove #${number}`}
            onClick={() => onRemove(number)}
          >
            #{number} ×
          </button>
        </li>
      ))}
    </ul>
  );
}
