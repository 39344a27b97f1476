// Detects that npm, which started this process, was killed. Killing npm ends neither its shell nor
// this process, and sends no signal.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const checkIntervalMs = 250;
// Determined at import: npm can be killed while setup is running.
const npmPid = process.env.npm_lifecycle_event === undefined ? null : findNpm();

/**
 * Calls `onExit` once when the npm that runs this process as a script has ended. Does not keep the
 * process alive.
 */
export function onNpmExit(onExit) {
  if (npmPid === null) return;
  const watch = setInterval(() => {
    if (isAlive(npmPid)) return;
    clearInterval(watch);
    onExit();
  }, checkIntervalMs);
  watch.unref();
}

/** Returns npm's process id: the parent, or the parent of the shell in which npm runs scripts. */
function findNpm() {
  const parent = readProcess(process.ppid);
  if (parent === null) return null;
  return /^-?(?:sh|dash|ash|bash|ksh|zsh|busybox)$/.test(parent.name)
    ? parent.parent
    : process.ppid;
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error.code !== 'ESRCH';
  }
  // A killed process keeps its id until its parent has reaped it.
  return process.platform !== 'linux' || readProcess(pid)?.state !== 'Z';
}

/** Returns the name, state, and parent of a process, or null if they are unknown. */
function readProcess(pid) {
  if (process.platform === 'linux') {
    try {
      const [, name, state, parent] = /^\d+ \((.*)\) (\S) (\d+)/s.exec(
        readFileSync(`/proc/${pid}/stat`, 'utf8'),
      );
      return { name, state, parent: Number(parent) };
    } catch {
      return null;
    }
  }
  const { stdout, status } = spawnSync('ps', ['-o', 'ppid=,stat=,comm=', '-p', String(pid)], {
    encoding: 'utf8',
  });
  const match = status === 0 ? /^\s*(\d+)\s+(\S)\S*\s+(?:.*\/)?(.+?)\s*$/.exec(stdout) : null;
  return match && { name: match[3], state: match[2], parent: Number(match[1]) };
}
