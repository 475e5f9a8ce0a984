// The run for somebody who has none yet: harmless, short, and with something to see.
import type { RunRequest } from '../../api';

/** Random reads past the page cache for ten seconds, from a file of its own under the target root. */
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
