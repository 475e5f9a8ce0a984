// Ends programs that hang. A test that waits forever for a program would use up the time of all
// tests, and show nothing: the watchdog prints what runs, and kills the programs that wait for no
// other one, so that their test fails and the next ones run.
import { spawnSync } from 'node:child_process';

/** Compiling one crate, and waiting for one test, takes less than this without any output. */
export const SILENCE_MS = 10 * 60_000;

/** `pid`, `parent` and `line` of every process, from `ps -eo pid=,ppid=,...`. */
export function parseProcesses(text) {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line) => {
    const [pid, parent] = line.trim().split(/\s+/).map(Number);
    return { pid, parent, line: line.trim() };
  });
}

/** The descendants of a process, parents first. */
export function descendants(processes, pid) {
  const children = processes.filter(({ parent }) => parent === pid);
  return children.flatMap((child) => [child, ...descendants(processes, child.pid)]);
}

/** Those without children. */
export function leaves(processes) {
  return processes.filter(({ pid }) => !processes.some(({ parent }) => parent === pid));
}

/** Calls `print` with the descendants of a process, and kills those without children. */
export function killLeaves(pid, print) {
  const { stdout } = spawnSync('ps', ['-eo', 'pid=,ppid=,stat=,etime=,wchan:24=,args='], { encoding: 'utf8' });
  const found = descendants(parseProcesses(stdout ?? ''), pid).filter(({ line }) => !line.includes(' ps -eo '));
  for (const { line } of found) print(`[watchdog] ${line.slice(0, 300)}\n`);
  for (const leaf of leaves(found)) {
    print(`[watchdog] killing ${leaf.pid}\n`);
    try {
      process.kill(leaf.pid, 'SIGKILL');
    } catch {
      // It has ended.
    }
  }
}

/** Watches a program until `stop`. `heard` is called with each output; `print` reports what is killed. */
export function watch(pid, print, silenceMs = SILENCE_MS) {
  const bark = () => {
    print(`\n[watchdog] no output for ${Math.round(silenceMs / 1000)} s; these programs run:\n`);
    killLeaves(pid, print);
    timer.refresh();
  };
  const timer = setTimeout(bark, silenceMs);
  return { heard: () => timer.refresh(), stop: () => clearTimeout(timer) };
}
