// Ends hung programs. A test that waits forever for a program would block all later tests without
// any output. The watchdog prints the running programs and kills those that have no children, so
// their test fails and the next tests run.
import { spawnSync } from 'node:child_process';

/** Longer than any test runs, or any crate compiles, without output. */
export const SILENCE_MS = 10 * 60_000;

/** `pid`, `parent` and `line` of every process, from `ps -eo pid=,ppid=,...`. */
export function parseProcesses(text) {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line) => {
    const [pid, parent] = line.trim().split(/\s+/).map(Number);
    return { pid, parent, line: line.trim() };
  });
}

/** Returns the descendants of a process, parents first. */
export function descendants(processes, pid) {
  const children = processes.filter(({ parent }) => parent === pid);
  return children.flatMap((child) => [child, ...descendants(processes, child.pid)]);
}

/** Processes that have no children. */
export function leaves(processes) {
  return processes.filter(({ pid }) => !processes.some(({ parent }) => parent === pid));
}

/** Calls `print` with a process's descendants, and kills those that have no children. */
export function killLeaves(pid, print) {
  const { stdout } = spawnSync('ps', ['-eo', 'pid=,ppid=,stat=,etime=,wchan:24=,args='], { encoding: 'utf8' });
  const found = descendants(parseProcesses(stdout ?? ''), pid).filter(({ line }) => !line.includes(' ps -eo '));
  for (const { line } of found) print(`[watchdog] ${line.slice(0, 300)}\n`);
  for (const leaf of leaves(found)) {
    print(`[watchdog] killing ${leaf.pid}\n`);
    try {
      process.kill(leaf.pid, 'SIGKILL');
    } catch {
      // The process has already exited.
    }
  }
}

/**
 * Watches a program until `stop`. `onOutput` must be called for each output; `print` reports killed
 * programs.
 */
export function watch(pid, print, silenceMs = SILENCE_MS) {
  const onSilence = () => {
    print(`\n[watchdog] no output for ${Math.round(silenceMs / 1000)} s; running programs:\n`);
    killLeaves(pid, print);
    timer.refresh();
  };
  const timer = setTimeout(onSilence, silenceMs);
  return { onOutput: () => timer.refresh(), stop: () => clearTimeout(timer) };
}
