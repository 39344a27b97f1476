import { DataRefusedError } from '../base/data-refused-error.ts';
import { matchFolder } from '../stack/installation.ts';
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
 * Checks the data's schema version, which the store migrates on the first call, and that the data
 * folder and the queue belong to the installation of the database. Engines that do not respond yet
 * are checked in the background once they do. Throws a DataRefusedError if the responses arrive
 * within a second.
 */
export async function startStoreCheck(
  { stack, clock, config }: Pick<Program, 'stack' | 'clock' | 'config'>,
  signal: AbortSignal,
): Promise<StoreCheck> {
  const { promise: refused, resolve: refuse } = Promise.withResolvers<DataRefusedError>();
  const done = (async () => {
    while (!signal.aborted) {
      try {
        await stack.store.schemaVersion();
        if (stack.name === 'distributed')
          await matchFolder(config, await stack.store.installationId());
        await stack.queue.ping();
        return;
      } catch (error) {
        if (error instanceof DataRefusedError) return refuse(error);
        await clock.sleep(retryMs, signal).catch(() => {});
      }
    }
  })();
  const firstWait = new AbortController();
  const first = clock.sleep(maxFirstWaitMs, firstWait.signal).catch(() => {});
  const error = await Promise.race([refused, done, first]);
  firstWait.abort(new Error('checked'));
  if (error instanceof DataRefusedError) throw error;
  return { refused, done };
}
