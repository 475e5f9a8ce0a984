// The sample run of the first page: short, and safe to start.
import type { RunRequest } from '../../api';

/** Direct random reads for 10 s from a new file under the target root. */
export const DEMO_RUN: RunRequest = {
  name: '10-second demo',
  jobs: [
    {
      name: 'demo',
      filename: 'demo',
      rw: 'randread',
      bs: '4k',
      iodepth: 8,
      direct: 1,
      size: '256m',
      runtime: '10s',
      time_based: 1,
    },
  ],
};
