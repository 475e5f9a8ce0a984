// Hosts with their checks and block devices.
import { Button } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { HostFacts, HostSummary } from '../../api';
import { devicesQuery, hostQuery, hostsQuery, refreshHost } from '../../api/queries';
import { bytes, plural, text } from '../../model/format/numbers';
import { notifyError } from '../../ui/notify';
import { Card, Dot, Page } from '../../ui/parts';
import { ProblemNotice } from '../../ui/problem';
import { DeviceTable } from './device-table';
import { HostChecks } from './host-checks';
import './devices.css';

export function DevicesPage() {
  const { data: hosts, error, refetch } = useQuery(hostsQuery);
  return (
    <Page title="Devices">
      <h1>Devices</h1>
      <ProblemNotice error={error} retry={refetch} />
      {hosts?.map((host) => (
        <HostSection key={host.id} host={host} />
      ))}
    </Page>
  );
}

function HostSection({ host }: { host: HostSummary }) {
  const { id, online, reason, facts } = host;
  const devices = useQuery(devicesQuery(id));
  const detail = useQuery(hostQuery(id));
  const queryClient = useQueryClient();
  const refresh = useMutation({
    mutationFn: () => refreshHost(queryClient, id),
    onError: notifyError,
  });
  return (
    <>
      <Card>
        <div className="row">
          <Dot tone={online ? 'device' : 'bad'} hollow={!online} />
          <b style={{ fontSize: 15 }}>{id}</b>
          {facts && <span className="mute">{describeHost(facts)}</span>}
          {!online && <span className="error">{reason ?? 'Offline'}</span>}
          <span className="push" />
          <Button loading={refresh.isPending} onClick={() => refresh.mutate()}>
            Refresh
          </Button>
        </div>
      </Card>
      <ProblemNotice error={devices.error} retry={devices.refetch} />
      {devices.data && <DeviceTable devices={devices.data.devices} />}
      <ProblemNotice error={detail.error} retry={detail.refetch} />
      {detail.data?.doctor && <HostChecks checks={detail.data.doctor.checks} />}
    </>
  );
}

function describeHost(facts: HostFacts): string {
  const { hostname, kernel, cpu_model, machine, cpus, memory_bytes, virtualization } = facts;
  return [
    hostname,
    `kernel ${kernel}`,
    cpu_model ?? machine,
    plural(cpus, 'CPU'),
    `${text(bytes(memory_bytes))} memory`,
    virtualization,
  ]
    .filter(Boolean)
    .join(' · ');
}
