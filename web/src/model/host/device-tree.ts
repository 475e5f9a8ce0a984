// Orders block devices as a tree: disks, partitions, and volumes on them. A device with multiple
// parents (RAID) is listed below the first.
import type { Device } from '../../api';

export interface TreeRow {
  device: Device;
  /** 0 for a root. */
  depth: number;
}

/** `sda2` before `sda10`. */
const byName = new Intl.Collator('en', { numeric: true });

/**
 * Returns every device once, from top to bottom, in natural order. Devices in a cycle become roots.
 */
export function deviceTree(listed: readonly Device[]): TreeRow[] {
  const devices = listed.toSorted((a, b) => byName.compare(a.name, b.name));
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

const isUsable = ({ read_access, write_access }: Device): boolean =>
  read_access.allowed || write_access.allowed;

/** Returns the rows of usable devices and of their ancestors. */
export function usableRows(rows: readonly TreeRow[]): TreeRow[] {
  let depth = 0;
  const kept: TreeRow[] = [];
  for (const row of rows.toReversed()) {
    // Rows are visited from bottom to top. A row with a lower depth than the last kept row is an
    // ancestor of that row.
    if (!isUsable(row.device) && row.depth >= depth) continue;
    kept.push(row);
    depth = row.depth;
  }
  return kept.reverse();
}

/** Devices that the job may access, and all other devices, both in natural order. */
export function devicesByAccess(devices: readonly Device[], isWriting: boolean) {
  const sorted = devices.toSorted((a, b) => byName.compare(a.name, b.name));
  const isAllowed = (device: Device) => accessOf(device, isWriting).allowed;
  return {
    usable: sorted.filter(isAllowed),
    unusable: sorted.filter((device) => !isAllowed(device)),
  };
}

export const accessOf = ({ read_access, write_access }: Device, isWriting: boolean) =>
  isWriting ? write_access : read_access;
