import { type BackOff, backOffMs } from '../../base/back-off.ts';
import type { Clock } from '../../base/clock.ts';
import { Fault } from '../../contract/fault.ts';

/** Options for serveRepeatedly(). */
interface RepeatedService<T> {
  /** Opens a connection, or waits for one. */
  open(): Promise<T>;
  /** Resolves when the connection has ended, or has to be opened again. */
  serve(connection: T): Promise<void>;
  /** Logs an error. Not called for an error with the message of the one before. */
  onError(message: string): void;
  /** Pauses between attempts. A connection that lasted longer than their maximum ends them. */
  backOff: BackOff;
  clock: Clock;
}

/** Opens and serves a connection again and again, until the signal is aborted. */
export async function serveRepeatedly<T>(
  { open, serve, onError, backOff, clock }: RepeatedService<T>,
  signal: AbortSignal,
): Promise<void> {
  let failures = 0;
  let lastMessage = '';
  while (!signal.aborted) {
    try {
      const connection = await open();
      const since = clock.steady();
      await serve(connection);
      if (clock.steady() - since > backOff.maxMs) failures = 0;
      lastMessage = '';
    } catch (error) {
      if (signal.aborted) return;
      const { message } = Fault.from(error);
      if (message !== lastMessage) onError(message);
      lastMessage = message;
    }
    failures += 1;
    await clock.sleep(backOffMs(backOff, failures, 0), signal).catch(() => {});
  }
}
