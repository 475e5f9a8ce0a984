// Checks that the job JSON schema accepts the jobs in documents and examples.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';

const root = new URL('../../', import.meta.url);
const read = (path) => JSON.parse(readFileSync(new URL(path, root), 'utf8'));
const { Job } = read('web/openapi.json').components.schemas;

function conforms(schema, value) {
  if (schema.enum && !schema.enum.includes(value)) return false;
  switch (schema.type) {
    case 'string':
      return (
        typeof value === 'string' &&
        (!schema.pattern || new RegExp(schema.pattern, 'u').test(value)) &&
        [...value].length <= (schema.maxLength ?? Infinity)
      );
    case 'boolean':
      return typeof value === 'boolean';
    default:
      return (
        typeof value === 'number' &&
        (schema.type === 'number' || Number.isInteger(value)) &&
        value >= (schema.minimum ?? -Infinity) &&
        value <= (schema.maximum ?? Infinity) &&
        value > (schema.exclusiveMinimum ?? -Infinity)
      );
  }
}

const isValid = (name, value) =>
  Job.properties[name]?.oneOf.filter((schema) => conforms(schema, value)).length === 1;

/** Returns all jobs in a document: a run's jobs, or the jobs in all steps of a study. */
const jobsOf = (document) =>
  document.steps?.flatMap(({ jobs }) => jobs) ?? document.jobs ?? [document];

test('examples conform to the schema', () => {
  const files = readdirSync(new URL('examples/', root)).filter((name) => name.endsWith('.json'));
  assert.ok(files.length > 3);
  for (const file of files)
    for (const job of jobsOf(read(`examples/${file}`)))
      for (const [name, value] of Object.entries(job))
        assert.ok(isValid(name, value), `${file}: ${name}=${JSON.stringify(value)}`);
});

test('values of all kinds are valid, and others are not', () => {
  for (const [name, value, expected] of [
    ['bs', '4k', true],
    ['bs', '4k,16k', true],
    ['bs', ',64k', true],
    ['bs', '64KiB', true],
    ['bs', ',', false],
    ['bs', '4k-16k', false],
    ['bs', 0, false],
    ['bs', '2g', false],
    ['blocksize', 4096, true],
    ['size', '10%', true],
    ['size', '101%', false],
    ['size', '0x1000', true],
    ['runtime', '500us', false],
    ['runtime', '500ms', true],
    ['runtime', '0', true],
    ['runtime', '366d', false],
    ['runtime', '10sec', false],
    ['startdelay', '5-10', true],
    ['iodepth', 32_768, true],
    ['iodepth', 32_769, false],
    ['iodepth', '0', false],
    ['iodepth', true, false],
    ['direct', true, true],
    ['direct', 2, false],
    ['rw', 'randrw:8', true],
    ['rw', 'randrw:0', false],
    ['rw', 'write:-4k', true],
    ['bssplit', '4k/70:64k/30', true],
    ['bssplit', '4k:64k/', true],
    ['bsrange', '4k-64k', true],
    ['random_distribution', 'zipf:1.2:0.25', true],
    ['random_distribution', 'zipf:1', false],
    ['random_distribution', 'zoned:60/10:40/90', true],
    ['steadystate', 'iops:5%', true],
    ['steadystate', 'bw:1m', true],
    ['steadystate', 'lat:1ms', false],
    ['steadystate_duration', '1500ms', false],
    ['percentile_list', '50:99:99.9', true],
    ['latency_percentile', 99.9, true],
    ['latency_percentile', 0, false],
    ['ignore_error', 'EAGAIN,ENOSPC:122', true],
    ['ignore_error', 0, false],
    ['cpus_allowed', '0-3,8', true],
    ['cpus_allowed', '4096', false],
    ['verify', 'crc32c-intel', true],
    ['verify_pattern', '0xff%o', true],
    ['buffer_pattern', '"text"', true],
    ['buffer_pattern', "'/etc/passwd'", false],
    ['filename', 'a\\:b:c', true],
    ['filename', 'a::b', false],
    ['name', 'a\u202eb', false],
    ['name', '', false],
    ['nice', -20, true],
    ['nice', '-21', false],
    ['file_service_type', 'random:8', true],
    ['no_such_option', 1, false],
  ])
    assert.equal(isValid(name, value) ?? false, expected, `${name}=${JSON.stringify(value)}`);
});
