// Runs a program of the project in Node 24 in place of this process: forwards signals, returns its
// exit code, and ends it when this process ends.
import { spawn } from 'node:child_process';
import { delimiter, dirname } from 'node:path';
import { onNpmExit } from '../src/cli/npm-watch.mjs';
import { node } from './place.mjs';

/**
 * Runs Node 24 with these arguments. Resolves with the exit code. The child detects the end of this
 * process by the IPC channel.
 */
export function runNode(args, environment = {}) {
  return run(node, args, environment, ['inherit', 'inherit', 'inherit', 'ipc']);
}

/** Runs a command with the project's tools first on PATH. Resolves with the exit code. */
export function run(command, args, environment = {}, stdio = 'inherit') {
  const path = `${dirname(node)}${delimiter}${process.env.PATH ?? ''}`;
  const child = spawn(command, args, {
    stdio,
    env: { ...process.env, PATH: path, ...environment },
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => child.kill(signal));
  // npm can be killed without a signal to this process; the child must not outlive it.
  onNpmExit(() => child.kill('SIGTERM'));
  return new Promise((resolve) => {
    child.on('error', (error) => {
      console.error(`${command}: ${error.message}`);
      resolve(127);
    });
    child.on('exit', (code, signal) => resolve(code ?? (signal === 'SIGINT' ? 130 : 143)));
  });
}
