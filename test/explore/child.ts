import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { root } from '../support/service/service.ts';

/** Result of a command. It is unfinished if it was stopped. */
export interface CommandOutcome {
  result: 'passed' | 'failed' | 'unfinished';
  /** The end of its output. */
  output: string;
}

/** Maximum characters of output that are kept. */
const maxOutput = 20_000;

/** Time between the signals that terminate and kill a command, in milliseconds. */
const graceMs = 2_000;

/**
 * Runs a command line in a shell in the root folder, until it ends or the signal is aborted. In
 * both cases none of its processes is left.
 */
export async function runCommandLine(
  command: string,
  signal: AbortSignal,
): Promise<CommandOutcome> {
  // Its processes are a group, which can be stopped.
  const child = spawn(command, {
    shell: true,
    detached: true,
    cwd: root,
    env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-maxOutput);
    });
  }
  const closed = once(child, 'close');
  const isEnded = await endsBefore(child, signal);
  await stopGroup(child.pid!);
  // A process outside of the group could keep the streams open.
  await Promise.race([closed, wait(graceMs)]);
  child.stdout.destroy();
  child.stderr.destroy();
  if (!isEnded) return { result: 'unfinished', output };
  return { result: child.exitCode === 0 ? 'passed' : 'failed', output };
}

/** Returns true once a process has ended, or false once the signal is aborted. */
async function endsBefore(child: ChildProcess, signal: AbortSignal): Promise<boolean> {
  try {
    await once(child, 'exit', { signal });
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}

/** Terminates the processes of a group, and kills those that do not end. */
async function stopGroup(groupId: number): Promise<void> {
  sendToGroup(groupId, 'SIGTERM');
  if (await groupEndsWithin(groupId, graceMs)) return;
  sendToGroup(groupId, 'SIGKILL');
  await groupEndsWithin(groupId, graceMs);
}

/** Returns true once a group has no processes, or false after `ms` milliseconds. */
async function groupEndsWithin(groupId: number, ms: number): Promise<boolean> {
  const until = performance.now() + ms;
  while (sendToGroup(groupId, 0)) {
    if (performance.now() > until) return false;
    await wait(20);
  }
  return true;
}

/** Sends a signal to a group; 0 sends none. Returns false if the group has no processes. */
function sendToGroup(groupId: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-groupId, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}
