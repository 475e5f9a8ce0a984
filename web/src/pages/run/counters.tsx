// The counters behind the verdict, from the job down to the device. Each is listed with the shell
// command that shows it without Leadline.
import type { Proof } from '../../api';
import { toneOf } from '../../charts/verdict-badge';
import { LAYER_LABELS } from '../../model/gauge/layers';
import { proofRow } from '../../model/run/proof';
import type { VerdictLine } from '../../model/run/verdict';
import { Command } from '../../ui/command';
import { NamedRows } from '../../ui/named-rows';
import { Badge, Card } from '../../ui/parts';

const HEADERS = ['Before', 'After', 'Difference', 'Unit', 'Command'];

/** One direction's counters. */
export function CountersCard({ line: { direction, proof } }: { line: VerdictLine }) {
  const title = `Counters for ${direction}s`;
  if (proof.length === 0)
    return (
      <Card title={title}>
        <p className="mute">This run has no stored counters.</p>
      </Card>
    );
  return (
    <Card title={title}>
      <NamedRows
        className="counters"
        label={title}
        corner="Counter"
        headers={HEADERS}
        rows={proof.map((row) => ({
          key: row.layer + row.name,
          name: <CounterName {...row} />,
          cells: toCells(row),
        }))}
      />
      <p className="mute small">
        Run each command before and after your own test; the difference should match. Application
        counters include only this run; device counters include all I/O on the device.
      </p>
    </Card>
  );
}

function CounterName({ layer, name }: Proof) {
  return (
    <>
      <Badge tone={toneOf(layer)}>{LAYER_LABELS[layer]}</Badge> {name}
    </>
  );
}

function toCells(row: Proof) {
  const { before, after, difference, short } = proofRow(row);
  const change = (
    <span key="difference">
      <b>{difference}</b>
      {short && <span className="mute small"> {short}</span>}
    </span>
  );
  const command = row.command ? (
    <Command key="command" command={row.command} />
  ) : (
    'Counted by the runner'
  );
  return [before, after, change, row.unit, command];
}
