import { expect, it } from 'vitest';
import type { ComparedMetric } from '../../api';
import { summaryOf } from '../fixtures/summary';
import { partialValue } from './partial';

const cancelled = summaryOf(1, { status: 'cancelled', iops: 500, lat_p99_ns: 1200 });

it.each([
  ['read_iops', cancelled, 1, 500],
  ['write_lat_p99_ns', cancelled, 1, 1200],
  ['read_lat_p50_ns', { ...cancelled, lat_p50_ns: null }, 1, null],
  ['device_read_iops', cancelled, 1, null],
  ['cpu_ns_per_io', cancelled, 1, null],
  ['read_iops', cancelled, 2, null],
  ['read_iops', summaryOf(1, { iops: 500 }), 1, null],
])('%s of a partial run', (name, run, directions, expected) => {
  expect(partialValue({ name: name as ComparedMetric['name'] }, run, directions)).toBe(expected);
});
