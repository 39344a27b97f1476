import { Fault } from '../contract/fault.ts';
import type { HttpExchange } from './exchange.ts';

/** Limits on the duration of a response. */
export interface TransferLimits {
  /** Timeout of a response, in milliseconds. */
  totalMs: number;
  /** Minimum average rate of a body, checked from `slowMs` milliseconds after its headers on. */
  minBytesPerSecond: number;
  slowMs: number;
}

/**
 * Watches a request, and calls `end` with `page_timeout` if it takes too long or its body arrives too slowly. Returns a
 * function that stops watching.
 */
export function watchTransfer(
  exchange: Pick<HttpExchange, 'received'>,
  { totalMs, minBytesPerSecond, slowMs }: TransferLimits,
  end: (fault: Fault) => void,
): () => void {
  const startedAt = performance.now();
  const isSlow = () => {
    const { bytes, ms } = exchange.received();
    return ms >= slowMs && bytes * 1000 < minBytesPerSecond * ms;
  };
  const check = () => {
    const leftMs = totalMs - (performance.now() - startedAt);
    if (leftMs <= 0) return end(new Fault('page_timeout', `the page took longer than ${totalMs} ms`));
    if (isSlow()) {
      return end(
        new Fault('page_timeout', `the page arrived at less than ${minBytesPerSecond} bytes per second`),
      );
    }
    timer = setTimeout(check, Math.min(1000, slowMs, leftMs));
  };
  // The rate is not checked earlier.
  let timer = setTimeout(check, Math.min(slowMs, totalMs));
  return () => clearTimeout(timer);
}
