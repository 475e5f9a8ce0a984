// The sections below the charts: findings, targets, latency distribution and details. Their code is
// loaded after the first screen.
import type { Run } from '../../api';
import type { LiveRun } from '../../charts/use-live-run';
import { CpuProfile } from './cpu-profile';
import Details from './details';
import { FindingList } from './findings';
import { Latency } from './latency';
import { Targets } from './targets';
import { Verified } from './verified';

interface EvidenceProps {
  run: Run;
  live: LiveRun;
}

export default function Evidence(props: EvidenceProps) {
  return (
    <>
      <FindingList {...props} />
      <Verified {...props} />
      <Targets {...props} />
      <CpuProfile {...props} />
      <Latency {...props} />
      <Details {...props} />
    </>
  );
}
