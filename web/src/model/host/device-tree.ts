// Orders block devices as a tree: disks, partitions, and volumes on them. A device with several
// parents (RAID) is listed below the first.
import type { Device } from '../../api';

export interface TreeRow {
  device: Device;
  /** 0 for a root. */
  depth: number;
}

/** Every device once, from top to bottom; devices in cycles become roots. */
export function deviceTree(devices: readonly Device[]): TreeRow[] {
  const names = new Set(devices.map(({ name }) => name));
  const parentOf = ({ parents }: Device) => parents.find((parent) => names.has(parent));
  const visited = new Set<string>();
  const rowsOf = (device: Device, depth: number): TreeRow[] => {
    if (visited.has(device.name)) return [];
    visited.add(device.name);
    const children = devices.filter((other) => parentOf(other) === device.name);
    return [{ device, depth }, ...children.flatMap((child) => rowsOf(child, depth + 1))];
  };
  const roots = devices.filter((device) => parentOf(device) === undefined);
  return [...roots, ...devices].flatMap((device) => rowsOf(device, 0));
}
