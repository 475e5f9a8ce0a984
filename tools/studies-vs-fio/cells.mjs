// Runs the same cells with the runner and with fio, in random order, on the same device.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/**
 * Adds pairs of IOPS values to each cell. Each round visits the cells in random order and runs the
 * two programs in random order.
 */
export function measure({ cells, rounds, seconds, device, home, programs }) {
  const common = { filename: device, ioengine: 'io_uring', direct: 1, runtime: seconds, time_based: 1 };
  const measured = cells.map((cell) => ({ ...cell, pairs: [] }));
  for (let round = 0; round < rounds; round++)
    for (const { options, pairs } of shuffled(measured)) {
      const pair = {};
      for (const name of shuffled(['runner', 'fio'])) {
        const job = { ...common, ...options };
        pair[name] = iops(name === 'fio' ? fio(job) : runner(job, home, programs));
      }
      pairs.push(pair);
    }
  return measured;
}

/** `ratio`: median of the pairs' ratios. `range`: smallest and largest ratio. */
export function table(cells) {
  const rows = cells.map(({ name, study, pairs }) => {
    const ratios = pairs.map(({ runner, fio }) => runner / fio).toSorted((a, b) => a - b);
    const fioMedian = median(pairs.map(({ fio }) => fio));
    const [least, most] = [ratios[0], ratios.at(-1)];
    return {
      name,
      study,
      runner: median(pairs.map(({ runner }) => runner)),
      fio: fioMedian,
      ratio: median(ratios),
      studyRatio: study / fioMedian,
      range: `${least.toFixed(2)}–${most.toFixed(2)}`,
    };
  });
  const lines = rows.map(
    ({ name, study, runner, fio, ratio, range, studyRatio }) =>
      `| ${name} | ${count(study)} | ${count(runner)} | ${count(fio)} | ${ratio.toFixed(2)} (${range}) | ${studyRatio.toFixed(2)} |`,
  );
  const summary = `Median ratio over all cells: runner ÷ fio ${median(rows.map(({ ratio }) => ratio)).toFixed(2)}, study ÷ fio ${median(rows.map(({ studyRatio }) => studyRatio)).toFixed(2)}.`;
  return [
    '| cell | study | runner | fio | runner ÷ fio (range) | study ÷ fio |',
    '|---|---|---|---|---|---|',
    ...lines,
    '',
    summary,
  ].join('\n');
}

function fio(options) {
  const given = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
  const output = execFileSync('fio', ['--name=cell', '--output-format=json', ...given], { encoding: 'utf8' });
  return JSON.parse(output);
}

/**
 * Runs a job with the runner. It confirms overwriting the device, which contains data written by
 * fio.
 */
function runner(options, home, programs) {
  const program = join(programs, 'leadline-runner');
  const input = JSON.stringify({ jobs: [{ name: 'cell', ...options }] });
  const call = (...given) =>
    JSON.parse(
      execFileSync(program, [...given, '--target-root', home], {
        input,
        encoding: 'utf8',
        stdio: ['pipe', 'pipe', 'ignore'],
      }),
    );
  const { confirmations } = planOf(program, input, home);
  const confirmed = confirmations.flatMap(({ text, code }) => ['--confirm', `${text}@${code}`]);
  return call('run', '-', '--output-format=json', ...confirmed);
}

/**
 * Returns the plan. If a confirmation is missing, the runner exits with an error but still prints
 * the plan.
 */
function planOf(program, input, home) {
  try {
    return JSON.parse(
      execFileSync(program, ['plan', '-', '--json', '--target-root', home], { input, encoding: 'utf8' }),
    );
  } catch (error) {
    return JSON.parse(error.stdout);
  }
}

/** Total IOPS for reads and writes. */
const iops = ({ jobs: [job] }) => job.read.iops + job.write.iops;

function shuffled(list) {
  const keyed = list.map((value) => ({ value, key: Math.random() }));
  return keyed.toSorted((a, b) => a.key - b.key).map(({ value }) => value);
}

function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

const count = (value) => Math.round(value).toLocaleString('en-US');
