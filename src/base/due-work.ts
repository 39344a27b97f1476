import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { backOffMs } from './back-off.ts';
import type { Clock } from './clock.ts';

/** Documents that are due, and how to process them. */
export interface DueWork<T> {
  /**
   * Returns up to `limit` documents, the longest due first, and none a second time in a round:
   * because it claims them, or because processing makes them due later.
   */
  claim(limit: number): Promise<T[]>;
  /** Returns those of the claimed documents to process. By default, all. */
  select?: ((claimed: readonly T[]) => Promise<readonly T[]>) | undefined;
  /**
   * Documents claimed at once. Those that a stopped process leaves wait until they are due again.
   */
  claimSize: number;
  /** Documents processed at the same time. */
  concurrency: number;
  /** Time after which a round claims no more documents, in milliseconds. */
  maxMs: number;
  process(document: T): Promise<unknown>;
  /** Handles the error of a document, which does not block others. Ends the round by throwing. */
  onError(document: T, error: unknown): unknown;
}

/**
 * Runs a round: processes the documents that are due, until none is left or the signal is aborted.
 * Returns the number of claimed documents. Throws what claim(), select(), and onError() throw, once
 * no document is in progress.
 */
export async function processDue<T>(
  { claim, select, claimSize, concurrency, maxMs, process, onError }: DueWork<T>,
  clock: Pick<Clock, 'steady'>,
  signal?: AbortSignal,
): Promise<number> {
  const until = clock.steady() + maxMs;
  for (let count = 0; ; ) {
    if (signal?.aborted) return count;
    const claimed = await claim(claimSize);
    const left = (select ? await select(claimed) : claimed).values();
    let isEnded = false;
    const processNext = async (): Promise<void> => {
      for (const document of left) {
        if (isEnded || signal?.aborted) return;
        try {
          await process(document);
        } catch (error) {
          await onError(document, error);
        }
      }
    };
    const lanes = Array.from({ length: concurrency }, () =>
      processNext().catch((error: unknown) => {
        isEnded = true;
        throw error;
      }),
    );
    const failed = (await Promise.allSettled(lanes)).find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
    count += claimed.length;
    if (claimed.length < claimSize || clock.steady() >= until) return count;
    // The embedded store resolves without I/O.
    await yieldToEventLoop();
  }
}

/** Longest pause after failed rounds, in milliseconds. */
const maxPauseMs = 5_000;

export interface RepeatOptions {
  clock: Clock;
  /** Pause between rounds. */
  intervalMs: number;
  /** True if a pause precedes the first round, as for a claim that is renewed. */
  startsLate?: boolean;
  /** Handles the error of a round. `failures`: number of consecutive rounds that failed, from 1. */
  onError(error: unknown, failures: number): void;
}

/**
 * Runs rounds until the signal is aborted, and resolves when the last one has ended. The next round
 * follows after a pause; at once if the round returned true; after a growing pause if it failed.
 */
export async function repeat(
  run: () => Promise<unknown>,
  { clock, intervalMs, startsLate = false, onError }: RepeatOptions,
  signal: AbortSignal,
): Promise<void> {
  let failures = 0;
  if (startsLate) await clock.sleep(intervalMs, signal).catch(() => {});
  while (!signal.aborted) {
    let isBusy = false;
    try {
      isBusy = (await run()) === true;
      failures = 0;
    } catch (error) {
      failures += 1;
      onError(error, failures);
    }
    const pause = { firstMs: intervalMs, maxMs: Math.max(intervalMs, maxPauseMs) };
    if (isBusy) await yieldToEventLoop();
    else await clock.sleep(backOffMs(pause, Math.max(1, failures), 0), signal).catch(() => {});
  }
}
