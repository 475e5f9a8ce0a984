// The demo run that the run list offers when it is empty. It is short and safe.
import type { RunRequest } from '../../api';

/** Direct random reads for 10 s from a file in the first target root. */
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
