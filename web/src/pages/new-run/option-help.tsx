// Help for an option: what it does, its type, default, values and aliases.
import type { OptionDoc } from '../../api';

export function OptionHelp({ doc }: { doc: OptionDoc }) {
  const { name, aliases, kind, values, default: fallback, help } = doc;
  const facts = [
    { label: 'Type', value: values.length > 0 ? '' : kind },
    { label: 'Values', value: values.join(', ') },
    { label: 'Default', value: fallback ?? '' },
    { label: aliases.length > 1 ? 'Aliases' : 'Alias', value: aliases.join(', ') },
  ].filter(({ value }) => value !== '');
  return (
    <div className="option-help">
      <p>
        <b className="mono">{name}</b> {help}
      </p>
      <dl>
        {facts.map(({ label, value }) => (
          <div key={label}>
            <dt>{label}</dt> <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
