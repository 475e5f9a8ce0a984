// The chosen runs by their numbers, each with a way to take it out; also for numbers that no run has.

/** The row of them. */
export function RunChips({
  numbers,
  onRemove,
}: {
  numbers: readonly number[];
  onRemove: (number: number) => void;
}) {
  return (
    <ul className="row tight chosen" aria-label="Chosen runs">
      {numbers.map((number) => (
        <li key={number}>
          <button
            type="button"
            className="chip"
            aria-label={`Take #${number} out`}
            onClick={() => onRemove(number)}
          >
            #{number} ×
          </button>
        </li>
      ))}
    </ul>
  );
}
