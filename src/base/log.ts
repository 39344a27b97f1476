import { createRequire } from 'node:module';
import pino from 'pino';
import { readableLog } from './readable-log.ts';

/** Structured logger. */
export type Log = pino.Logger;

/** Receives the lines of a log, each with its line break. */
export interface LogOutput {
  write(lines: string): void;
}

/**
 * Creates the logger of a service. `level` is a pino level: trace, debug, info, warn, error, fatal, or
 * silent. By default it writes to standard error: JSON lines, or readable lines if that is a terminal.
 */
export function createLog(level: string, role: string, to?: LogOutput): Log {
  if (to === undefined) output ??= createOutput();
  const mixin = readFields === undefined ? {} : { mixin: readFields };
  return pino({ level, base: { role }, timestamp: pino.stdTimeFunctions.isoTime, ...mixin }, to ?? output!);
}

let readFields: (() => object) | undefined;

/** Adds the fields that `read` returns for each line to the loggers created from now on. */
export function addLogFields(read: (() => object) | undefined): void {
  readFields = read;
}

let output: (pino.DestinationStream & { flushSync(): void }) | undefined;

/** Maximum delay of lines below `warn`, which are written in groups, in milliseconds. */
const maxDelayMs = 10;
const warnLevel = 40;

/**
 * Creates the stream that all loggers of the process write to. It groups lines into one write: a write per
 * line takes a sixth of a busy gateway's CPU time.
 */
function createOutput() {
  const destination = process.stderr.isTTY ? createReadable() : pino.destination({ fd: 2, sync: false });
  let lines = '';
  const flush = () => {
    if (lines === '') return;
    destination.write(lines);
    lines = '';
  };
  const stream = {
    /** Tells pino to set lastLevel. */
    [Symbol.for('pino.metadata')]: true,
    lastLevel: 0,
    write(line: string) {
      if (lines === '') setTimeout(flush, maxDelayMs).unref();
      lines += line;
      if (stream.lastLevel >= warnLevel) flush();
    },
    flushSync: () => {
      flush();
      destination.flushSync();
    },
  };
  process.once('exit', stream.flushSync);
  return stream;
}

/** Creates a stream that formats lines for a terminal. Loads the formatter, which no other process needs. */
function createReadable(): Pick<pino.DestinationStream, 'write'> & { flushSync(): void } {
  const { prettyFactory } = createRequire(import.meta.url)('pino-pretty') as typeof import('pino-pretty');
  const format = prettyFactory(readableLog(process.stderr.hasColors()));
  return {
    write: (lines) => {
      for (const line of lines.split('\n')) if (line !== '') process.stderr.write(format(line) ?? '');
    },
    // A terminal is written to synchronously.
    flushSync: () => {},
  };
}
