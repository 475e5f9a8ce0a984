// A block device's properties, in groups: identity, geometry, queue, and who may use it.
// Unknown properties are omitted.
import type { Access, Device, Mount } from '../../api';
import { bytes, count, NBSP, plural, text } from '../format/numbers';

export interface DeviceFact {
  name: string;
  /** Values, shown one per line. There is at least one. */
  values: readonly string[];
  /** True for paths, numbers and names that users may copy. */
  isIdentifier?: boolean;
}

export interface FactGroup {
  title: string;
  facts: readonly DeviceFact[];
}

export const deviceFacts = (device: Device): FactGroup[] =>
  [
    { title: 'Identity', facts: identity(device) },
    { title: 'Geometry', facts: geometry(device) },
    { title: 'Queue and cache', facts: queue(device) },
    { title: 'Usage', facts: use(device) },
    { title: 'Access', facts: access(device) },
  ].map(({ title, facts }) => ({ title, facts: facts.filter(({ values }) => values.length > 0) }));

type Value = string | null | undefined;
const lines = (value: Value | readonly string[]): readonly string[] =>
  [value ?? []].flat().filter(Boolean);
const fact = (name: string, value: Value | readonly string[]): DeviceFact => ({
  name,
  values: lines(value),
});
const identifier = (name: string, value: Value | readonly string[]): DeviceFact => ({
  ...fact(name, value),
  isIdentifier: true,
});

const yesNo = (value: boolean | null | undefined) => (value == null ? null : value ? 'Yes' : 'No');
const size = (value: number | null | undefined) => (value == null ? null : text(bytes(value)));
const capitalized = (value: Value) => value && value.charAt(0).toUpperCase() + value.slice(1);

const identity = (device: Device): DeviceFact[] => [
  fact('Model', device.model),
  identifier('Serial number', device.serial),
  device.identity ? identifier('Stable ID', device.identity) : fact('Stable ID', 'None'),
  identifier('Path', device.path),
  identifier('Device number', device.dev),
  identifier('Links', device.links),
];

const geometry = (device: Device): DeviceFact[] => [
  fact('Size', `${text(bytes(device.size_bytes))} (${count(device.size_bytes)}${NBSP}B)`),
  fact('Logical block', size(device.logical_block_bytes)),
  fact('Physical block', size(device.physical_block_bytes)),
  fact('Rotational', yesNo(device.rotational)),
  fact('Removable', yesNo(device.removable)),
  fact('Read-only', yesNo(device.read_only)),
];

const queue = (device: Device): DeviceFact[] => [
  fact('Scheduler', device.scheduler),
  fact('Queue length', device.nr_requests == null ? null : plural(device.nr_requests, 'request')),
  fact('Write cache', capitalized(device.write_cache)),
  fact('Read-ahead', size(device.read_ahead_bytes)),
];

const use = (device: Device): DeviceFact[] => [
  fact('Filesystem', device.filesystem),
  identifier('Mounts', device.mounts.map(describeMount)),
  fact('Used by', device.used_by.length > 0 ? device.used_by : 'Not in use'),
  identifier('On devices', device.parents),
  identifier('Backing file', device.backing_file),
];

const access = (device: Device): DeviceFact[] => [
  fact('Read access', describeAccess(device.read_access)),
  fact('Write access', describeAccess(device.write_access)),
];

/** Allow line breaks after commas. */
const describeMount = ({ point, options }: Mount) =>
  options ? `${point} (${options.replaceAll(',', ', ')})` : point;

const describeAccess = ({ allowed, reason }: Access) =>
  allowed ? 'Allowed' : ['Not allowed', reason].filter(Boolean).join(': ');
