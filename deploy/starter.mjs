// Tells when npm, which started us, was killed: that ends neither its shell nor us, and gives no sign.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const everyMs = 250;
// Looked up at once: setting up takes a while, in which npm can be killed, too.
const starter = process.env.npm_lifecycle_event === undefined ? null : findStarter();

/** Calls `gone` once when the npm that runs us as a script is no more. Does not keep the process alive. */
export function onStarterGone(gone) {
  if (starter === null) return;
  const watch = setInterval(() => {
    if (isAlive(starter)) return;
    clearInterval(watch);
    gone();
  }, everyMs);
  watch.unref();
}

/** Process id of npm: our parent, or the parent of the shell that npm runs scripts with. */
function findStarter() {
  const parent = look(process.ppid);
  if (parent === null) return null;
  return /^-?(?:sh|dash|ash|bash|ksh|zsh|busybox)$/.test(parent.name) ? parent.parent : process.ppid;
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error.code !== 'ESRCH';
  }
  // One that was killed keeps its id until its own parent has looked.
  return process.platform !== 'linux' || look(pid)?.state !== 'Z';
}

/** Name, state and parent of a process; null where they cannot be known. */
function look(pid) {
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
