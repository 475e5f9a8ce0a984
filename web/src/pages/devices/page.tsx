// The hosts: what they are, what they can do, and their devices as a tree with who uses each and what a run may do.
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { HostSummary } from '../../api';
import { devicesQuery, hostQuery, hostsQuery } from '../../api/queries';
import { bytes, text } from '../../model/format/numbers';
import { errorText } from '../../model/format/problem-text';
import { Card, Dot, Page } from '../../ui/parts';
import { ProblemNotice } from '../../ui/problem';
import { HostChecks } from './host-checks';
import { DeviceTable } from './device-table';
import './devices.css';

/** The page. */
export function DevicesPage() {
  const { data: hosts, error, refetch } = useQuery(hostsQuery);
  return (
    <Page title="Devices">
      <h1>Devices</h1>
      {error && <ProblemNotice problem={errorText(error)} onRetry={() => void refetch()} />}
      {hosts?.map((host) => (
        <HostPart key={host.id} host={host} onLook={() => void refetch()} />
      ))}
    </Page>
  );
}

function HostPart({ host, onLook }: { host: HostSummary; onLook: () => void }) {
  const devices = useQuery(devicesQuery(host.id));
  const detail = useQuery(hostQuery(host.id));
  const facts = host.facts;
  return (
    <>
      <Card>
        <div className="row">
          <Dot tone={host.online ? 'device' : 'bad'} hollow={!host.online} />
          <b style={{ fontSize: 15 }}>{host.id}</b>
          {facts && (
            <span className="mute">
              {facts.hostname} · kernel {facts.kernel} · {facts.cpu_model ?? facts.machine} ·{' '}
              {facts.cpus} {facts.cpus === 1 ? 'processor' : 'processors'} ·{' '}
              {text(bytes(facts.memory_bytes))} memory
              {facts.virtualization ? ` · ${facts.virtualization}` : ''}
            </span>
          )}
          {!host.online && (
            <span style={{ color: 'var(--bad-text)' }}>{host.reason ?? 'offline'}</span>
          )}
          <span className="push" />
          <Button
            loading={devices.isFetching}
            onClick={() => {
              onLook();
              void devices.refetch();
              void detail.refetch();
            }}
          >
            Look again
          </Button>
        </div>
      </Card>
      {devices.error && (
        <ProblemNotice problem={errorText(devices.error)} onRetry={() => void devices.refetch()} />
      )}
      {devices.data && <DeviceTable devices={devices.data.devices} />}
      {detail.error && (
        <ProblemNotice problem={errorText(detail.error)} onRetry={() => void detail.refetch()} />
      )}
      {detail.data?.doctor && <HostChecks checks={detail.data.doctor.checks} />}
    </>
  );
}
