import { write, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import pino from 'pino';
import type { PrettyOptions } from 'pino-pretty';

export type Log = pino.Logger;

/** Receives the lines of a log, each with its line break. */
export interface LogOutput {
  write(lines: string): void;
}

/**
 * Creates the logger of a service. `level` is a pino level: trace, debug, info, warn, error, fatal,
 * or silent. By default it writes to standard error: JSON lines, or readable lines if that is a
 * terminal.
 */
export function createLog(level: string, role: string, to?: LogOutput): Log {
  if (to === undefined) output ??= createOutput();
  const mixin = readFields === undefined ? {} : { mixin: readFields };
  return pino(
    {
      level,
      base: { role },
      timestamp: createIsoTime(Date.now),
      ...mixin,
    },
    to ?? output!,
  );
}

/**
 * Creates the function that returns the time of a line in ISO 8601, as pino writes it. Formats each
 * second once, because Date.toISOString() takes a quarter of the time of a line.
 */
export function createIsoTime(now: () => number): () => string {
  let start = Number.NaN;
  let formatted = '';
  return () => {
    const ms = now();
    if (!(ms >= start && ms < start + 1000)) {
      start = Math.floor(ms / 1000) * 1000;
      formatted = new Date(start).toISOString().slice(0, -4);
    }
    return `,"time":"${formatted}${String(ms - start).padStart(3, '0')}Z"`;
  };
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
 * Creates the stream that all loggers of the process write to. It groups lines into one write: a
 * write per line takes a sixth of a busy gateway's CPU time.
 */
function createOutput() {
  const plain = createPlainOutput();
  const destination = process.stderr.isTTY ? createReadable(plain) : plain;
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

/** Writes lines to standard error. */
interface LineOutput extends LogOutput {
  flushSync(): void;
}

const stderr = 2;
/** Lines that wait for a slow reader, in UTF-16 code units. Further ones are lost. */
const maxWaiting = 16 * 1024 * 1024;
/** Time before a full pipe is tried again, in milliseconds. */
const fullMs = 50;

/**
 * Creates a stream to standard error that never blocks. Lines that cannot be written are lost:
 * neither a terminal or a reader that has gone, nor a full disk stops the service. (pino's own
 * stream repeats such a write forever at the end of the process, and a full disk ends the process.)
 */
function createPlainOutput(): LineOutput {
  let waiting = '';
  let isWriting = false;
  const writeNext = () => {
    if (isWriting || waiting === '') return;
    isWriting = true;
    const bytes = Buffer.from(waiting);
    waiting = '';
    const writeFrom = (start: number) =>
      write(stderr, bytes, start, (error, written) => {
        if (error?.code === 'EAGAIN') return void setTimeout(writeFrom, fullMs, start).unref();
        if (error === null && start + written < bytes.length) return writeFrom(start + written);
        isWriting = false;
        writeNext();
      });
    writeFrom(0);
  };
  return {
    write(lines) {
      if (waiting.length < maxWaiting) waiting += lines;
      writeNext();
    },
    flushSync() {
      try {
        if (waiting !== '') writeSync(stderr, waiting);
      } catch {
        // The lines are lost.
      }
      waiting = '';
    },
  };
}

/**
 * Creates a stream that formats lines for a terminal. Loads the formatter, which no other process
 * needs.
 */
function createReadable({ write, flushSync }: LineOutput): LineOutput {
  const { prettyFactory } = createRequire(import.meta.url)(
    'pino-pretty',
  ) as typeof import('pino-pretty');
  const format = prettyFactory(readableLog(process.stderr.hasColors()));
  return {
    write: (lines) => {
      let formatted = '';
      for (const line of lines.split('\n')) {
        if (line !== '') formatted += format(line) ?? '';
      }
      write(formatted);
    },
    flushSync,
  };
}

/**
 * Options for readable log lines: the time of day, the level, the role, the message, and its
 * fields.
 */
export const readableLog = (hasColors: boolean): PrettyOptions => ({
  colorize: hasColors,
  translateTime: 'SYS:HH:MM:ss',
  ignore: 'role',
  messageFormat: '{role}: {msg}',
  singleLine: true,
});
