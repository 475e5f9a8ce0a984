// List of names and values.
interface FactsProps {
  facts: readonly (readonly [name: string, value: string])[];
  /** Uses a monospace font, for identifiers. */
  mono?: boolean;
}

export function Facts({ facts, mono }: FactsProps) {
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
