// Host checks (`leadline doctor`), failures first.
import type { Check, CheckStatus } from '../../api';
import { NamedRows } from '../../ui/named-rows';
import { Badge, Card, type Tone } from '../../ui/parts';

const STATUS: Record<CheckStatus, { label: string; tone: Tone }> = {
  fail: { label: 'Failed', tone: 'bad' },
  warn: { label: 'Warning', tone: 'cache' },
  ok: { label: 'OK', tone: 'device' },
};
const ORDER = Object.keys(STATUS);

export function HostChecks({ checks }: { checks: readonly Check[] }) {
  const sorted = checks.toSorted((a, b) => ORDER.indexOf(a.status) - ORDER.indexOf(b.status));
  return (
    <Card title="Host checks">
      <NamedRows
        className="host-table"
        label="Host checks"
        corner="Check"
        headers={['Status', 'Result and remedy']}
        rows={sorted.map(({ name, status, detail, remedy }) => ({
          name,
          cells: [
            <Badge key="status" tone={STATUS[status].tone}>
              {STATUS[status].label}
            </Badge>,
            <>
              {detail}
              {remedy && <div className="mute">{remedy}</div>}
            </>,
          ],
        }))}
      />
    </Card>
  );
}
