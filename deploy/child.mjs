// Runs a program of the project in Node 24 in our place: signals go on to it, its exit code is ours,
// and it does not outlive us.
import { spawn } from 'node:child_process';
import { delimiter, dirname } from 'node:path';
import { node } from './setup.mjs';
import { onStarterGone } from './starter.mjs';

/** Runs Node 24 with these arguments; resolves with the exit code. It sees by its channel to us when we are gone. */
export function runNode(args, environment = {}) {
  return run(node, args, environment, ['inherit', 'inherit', 'inherit', 'ipc']);
}

/** Runs a command with the project's tools first on PATH; resolves with the exit code. */
export function run(command, args, environment = {}, stdio = 'inherit') {
  const path = `${dirname(node)}${delimiter}${process.env.PATH ?? ''}`;
  const child = spawn(command, args, { stdio, env: { ...process.env, PATH: path, ...environment } });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  // Whoever started us can be killed without a word; what we started must not stay then.
  onStarterGone(() => child.kill('SIGTERM'));
  return new Promise((resolve) => {
    child.on('error', (error) => {
      console.error(`${command}: ${error.message}`);
      resolve(127);
    });
    child.on('exit', (code, signal) => resolve(code ?? (signal === 'SIGINT' ? 130 : 143)));
  });
}
