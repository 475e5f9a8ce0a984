// Devices as a tree: disk, its partitions, what lies on those. The wire says who lies on whom; here it becomes an order
// and a depth. A device on several others (RAID) stands under the first of them and names all.
import type { Device } from '../../api';

/** One line of the tree. */
export interface TreeRow {
  device: Device;
  /** 0 for a whole disk. */
  depth: number;
}

/** The lines from top to bottom. */
export function deviceTree(devices: readonly Device[]): TreeRow[] {
  const names = new Set(devices.map(({ name }) => name));
  const under = (name: string) =>
    devices.filter(({ parents }) => parents.find((parent) => names.has(parent)) === name);
  const seen = new Set<string>();
  const lines = (device: Device, depth: number): TreeRow[] => {
    if (seen.has(device.name)) return [];
    seen.add(device.name);
    return [{ device, depth }, ...under(device.name).flatMap((child) => lines(child, depth + 1))];
  };
  const roots = devices.filter(({ parents }) => !parents.some((parent) => names.has(parent)));
  return [...roots, ...devices].flatMap((device) => lines(device, 0));
}
