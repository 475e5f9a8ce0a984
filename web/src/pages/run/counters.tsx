// "Show me": the numbers behind the verdict from the job down to the device, each before, after and the difference, with
// the command that shows the same without us.
import type { Layer, Proof } from '../../api';
import { proofRow, type VerdictLine } from '../../model/run/verdict';
import { Command } from '../../ui/command';
import { NamedRows } from '../../ui/named-rows';
import { Badge, Card, type Tone } from '../../ui/parts';

const LAYERS: Record<Layer, { word: string; tone: Tone }> = {
  application: { word: 'application', tone: 'app' },
  page_cache: { word: 'page cache', tone: 'cache' },
  filesystem: { word: 'filesystem', tone: 'block' },
  device: { word: 'device', tone: 'device' },
};
const HEADS = ['before', 'after', 'difference', 'unit', 'shown by'];

/** The proof of one direction. */
export function CountersCard({ line: { direction, proof } }: { line: VerdictLine }) {
  if (proof.length === 0)
    return (
      <Card title={`What was counted for ${direction}s`}>
        <p className="mute">This run kept no numbers beside its verdict.</p>
      </Card>
    );
  return (
    <Card title={`What was counted for ${direction}s while the run measured`}>
      <NamedRows
        className="proof"
        label={`What was counted for ${direction}s`}
        corner="counted"
        heads={HEADS}
        rows={proof.map((row) => ({
          key: row.layer + row.name,
          name: <Name {...row} />,
          cells: cellsOf(row),
        }))}
      />
      <p className="mute small">
        Call a command before and after a run of your own: its output changes by the difference. The
        device’s numbers are everybody’s, the application’s only this run’s.
      </p>
    </Card>
  );
}

function Name({ layer, name }: Proof) {
  const { word, tone } = LAYERS[layer];
  return (
    <>
      <Badge tone={tone}>{word}</Badge> {name}
    </>
  );
}

function cellsOf(row: Proof) {
  const { before, after, difference, short } = proofRow(row);
  const command = row.command ? (
    <Command key="command" command={row.command} />
  ) : (
    'counted by the runner'
  );
  const change = (
    <span key="difference">
      <b>{difference}</b>
      {short && <span className="mute small"> {short}</span>}
    </span>
  );
  return [before, after, change, row.unit, command];
}
