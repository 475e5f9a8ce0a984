// Host checks (`leadline doctor`), failures first.
import type { Check, CheckStatus } from '../../api';
import { Badge, Card, type Tone } from '../../ui/parts';

const STATUS: Record<CheckStatus, { label: string; tone: Tone }> = {
  fail: { label: 'failed', tone: 'bad' },
  warn: { label: 'warning', tone: 'cache' },
  ok: { label: 'OK', tone: 'device' },
};
const ORDER = Object.keys(STATUS);

export function HostChecks({ checks }: { checks: readonly Check[] }) {
  const sorted = checks.toSorted((a, b) => ORDER.indexOf(a.status) - ORDER.indexOf(b.status));
  return (
    <Card title="Host checks">
      <table className="host-table">
        <thead>
          <tr>
            <th scope="col">Check</th>
            <th scope="col">Status</th>
            <th scope="col">Result and remedy</th>
          </tr>
        </thead>
        <tbody>
          {sorted.map(({ name, status, detail, remedy }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>
                <Badge tone={STATUS[status].tone}>{STATUS[status].label}</Badge>
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
