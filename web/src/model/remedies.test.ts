import { expect, it } from 'vitest';
import { remedyOf } from './remedies';

it.each([
  ['cache_answered', { direct: false, numjobs: 1 }, { direct: 1 }],
  ['depth_not_reached', { direct: false, numjobs: 1 }, { direct: 1 }],
  ['depth_not_reached', { direct: true, numjobs: 2 }, { numjobs: 4 }],
  ['short_run', { direct: true, numjobs: 1 }, { runtime: '60s', time_based: 1 }],
  ['io_errors', { direct: true, numjobs: 1 }, undefined],
])('%s of %j is mended by %j', (code, run, patch) => expect(remedyOf(code, run)?.patch).toEqual(patch));
