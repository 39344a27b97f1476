import { DataRefusedError } from '../base/data-refused-error.ts';
import type { Program } from './compose.ts';

const retryMs = 2_000;
/** Maximum wait for the store at startup, in milliseconds. */
const maxFirstWaitMs = 1_000;

/** Result of startStoreCheck(). */
export interface StoreCheck {
  /** Resolves with the error if the process must not use the data; pending otherwise. */
  refused: Promise<DataRefusedError>;
  /** Resolves when the check has ended. */
  done: Promise<void>;
}

/**
 * Checks the data's schema version, which the store migrates on the first call. A store that does not respond
 * yet is checked in the background once it does. Throws a DataRefusedError if the response arrives within a
 * second.
 */
export async function startStoreCheck(
  { stack, clock }: Pick<Program, 'stack' | 'clock'>,
  signal: AbortSignal,
): Promise<StoreCheck> {
  const { promise: refused, resolve: refuse } = Promise.withResolvers<DataRefusedError>();
  const done = (async () => {
    while (!signal.aborted) {
      try {
        await stack.store.schemaVersion();
        return;
      } catch (error) {
        if (error instanceof DataRefusedError) return refuse(error);
        await clock.sleep(retryMs, signal).catch(() => {});
      }
    }
  })();
  const waited = new AbortController();
  const first = clock.sleep(maxFirstWaitMs, waited.signal).catch(() => {});
  const error = await Promise.race([refused, done, first]);
  waited.abort(new Error('checked'));
  if (error instanceof DataRefusedError) throw error;
  return { refused, done };
}
