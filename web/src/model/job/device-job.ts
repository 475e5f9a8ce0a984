// The job that *Test this device* creates: random reads, which modify nothing.
import type { Device } from '../../api';
import { writeJobText } from './job-text';

/** Session storage key for the draft in `pages/new-run`. */
export const RUN_DRAFT_KEY = 'leadline-run';

/** Returns a device's stable path, or its kernel path if it has none. */
const pathOf = ({ links, path }: Device) => links.find((link) => link.includes('/by-id/')) ?? path;

/** Returns a draft for the run form. */
export function deviceDraft(device: Device) {
  const job = {
    name: device.name,
    filename: pathOf(device),
    rw: 'randread',
    bs: '4k',
    direct: 1,
    iodepth: 32,
    runtime: '30s',
    time_based: 1,
  };
  return { text: writeJobText([job]), name: '', tags: [] as string[] };
}
