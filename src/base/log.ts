import pino from 'pino';

/** The program's log: JSON lines on standard error, so that standard output stays for people. */
export type Log = pino.Logger;

/** Makes the log of one process. `level` is pino's: trace, debug, info, warn, error, silent. */
export function createLog(level: string, role: string): Log {
  return pino(
    { level, base: { role }, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ fd: 2, sync: false }),
  );
}
