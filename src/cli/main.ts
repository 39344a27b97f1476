#!/usr/bin/env node
import module from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
// @ts-expect-error: a plain script, which also runs on the Node 20 of a checkout.
import { onNpmExit } from './npm-watch.mjs';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 24 || (major === 24 && minor < 12)) {
  console.error(`Gleaner needs Node 24.12 or newer; this is ${process.version}.`);
  process.exit(1);
}
// Saves a fifth of the start; worker processes inherit it. Without a folder that can be written,
// nothing is kept.
process.env.NODE_COMPILE_CACHE ||= join(
  process.env.XDG_CACHE_HOME || join(homedir(), '.cache'),
  'gleaner',
  'compiled',
);
module.enableCompileCache(process.env.NODE_COMPILE_CACHE);
// A process with an IPC channel detects the end of its parent by the channel.
if (!process.channel) onNpmExit(() => process.kill(process.pid, 'SIGTERM'));
// An older Node cannot even load the program: it has no SQLite.
const { exitCodes, Interrupted } = await import('./commands/exit.ts');
const { runCli } = await import('./run.ts');

/**
 * True for a role of the service, which outlives its terminal, its pipes, and the disk of its log.
 */
let isRole = false;

// Output is lost if standard error cannot be written. The exit code still reports the result.
process.stderr.on('error', () => {});
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (isRole) return;
  // Exit silently when a reader closes the pipe (`gleaner job list | head`).
  if (error.code === 'EPIPE') process.exit();
  process.stderr.write(`gleaner: standard output: ${error.message}\n`);
  process.exit(exitCodes.failed);
});

/**
 * Time after a signal in which another one is the same: a launcher forwards the Ctrl-C that the
 * terminal also sends.
 */
const sameSignalMs = 500;
let stop: AbortSignal | null = null;

/** Takes the signals over from Node: until a command can stop, a signal ends the process. */
function stopOnSignal(): AbortSignal {
  const controller = new AbortController();
  let stoppedMs = 0;
  const abort = () => {
    if (!controller.signal.aborted) stoppedMs = Date.now();
    else if (Date.now() - stoppedMs > sameSignalMs) process.exit(exitCodes.interrupted);
    controller.abort(new Interrupted('interrupted'));
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, abort);
  // A terminal that closes ends a command, but no role.
  process.on('SIGHUP', () => {
    if (!isRole) abort();
  });
  if (process.channel) {
    // The launcher that started the process has ended. Its channel must not keep the process alive.
    process.once('disconnect', abort);
    process.channel.unref();
  }
  return controller.signal;
}

process.exitCode = await runCli(process.argv.slice(2), {
  // Opened only by commands that read it.
  get stdin() {
    return process.stdin;
  },
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  folder: process.cwd(),
  home: homedir(),
  get signal() {
    stop ??= stopOnSignal();
    return stop;
  },
  becomeRole() {
    isRole = true;
    process.on('SIGHUP', () => {});
  },
});
