// A list of names and values.

/** The list; `mono` for names that are spelt as in code. */
export function Facts({
  facts,
  mono,
}: {
  facts: readonly (readonly [name: string, value: string])[];
  mono?: boolean;
}) {
  return (
    <dl className={`facts ${mono ? 'mono' : ''}`}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
