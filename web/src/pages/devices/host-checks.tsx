// What the host can do: one line a question, each with its remedy.
import type { Check, CheckStatus } from '../../api';
import { Badge, Card, type Tone } from '../../ui/parts';

const STATUS: Record<CheckStatus, { word: string; tone: Tone }> = {
  ok: { word: 'well', tone: 'device' },
  warn: { word: 'numbers may suffer', tone: 'cache' },
  fail: { word: 'will not work', tone: 'bad' },
};

/** The answers, trouble first. */
export function HostChecks({ checks }: { checks: readonly Check[] }) {
  const order: CheckStatus[] = ['fail', 'warn', 'ok'];
  const sorted = checks.toSorted((a, b) => order.indexOf(a.status) - order.indexOf(b.status));
  return (
    <Card title="What this host can do">
      <table className="doctor">
        <thead>
          <tr>
            <th scope="col">looked at</th>
            <th scope="col">stands</th>
            <th scope="col">found, and what to do</th>
          </tr>
        </thead>
        <tbody>
          {sorted.map(({ name, status, detail, remedy }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>
                <Badge tone={STATUS[status].tone}>{STATUS[status].word}</Badge>
              </td>
              <td>
                {detail}
                {remedy && <div className="mute">{remedy}</div>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  );
}
