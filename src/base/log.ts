import pino from 'pino';

/** The program's log: JSON lines on standard error, so that standard output stays for people. */
export type Log = pino.Logger;

/** Makes the log of one process. `level` is pino's: trace, debug, info, warn, error, silent. */
export function createLog(level: string, role: string): Log {
  output ??= createOutput();
  return pino({ level, base: { role }, timestamp: pino.stdTimeFunctions.isoTime }, output);
}

let output: (pino.DestinationStream & { flushSync(): void }) | undefined;

/**
 * Creates the stream that every log of the process writes to. Lines of one turn of the event loop go out in one
 * write: a write per line costs a busy API as much as routing the request.
 */
function createOutput() {
  const destination = pino.destination({ fd: 2, sync: false });
  let lines = '';
  const flush = () => {
    if (lines === '') return;
    destination.write(lines);
    lines = '';
  };
  const flushSync = () => {
    flush();
    destination.flushSync();
  };
  // No turn of the event loop follows.
  process.once('exit', flushSync);
  return {
    write(line: string) {
      if (lines === '') setImmediate(flush);
      lines += line;
    },
    flushSync,
  };
}
