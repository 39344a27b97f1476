import { Fault } from '../contract/fault.ts';
import type { Exchange } from './exchange.ts';

/** How long a response may take. */
export interface TransferLimits {
  /** Milliseconds for one response. */
  totalMs: number;
  /** Bytes a second that a body must bring on average, from `slowMs` after its headers on. */
  minBytesPerSecond: number;
  slowMs: number;
}

/**
 * Calls `end` with `page_timeout` once a request takes too long, or its body comes too slowly. Returns the function
 * that stops watching.
 */
export function watchTransfer(
  exchange: Pick<Exchange, 'received'>,
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
        new Fault('page_timeout', `the page came at less than ${minBytesPerSecond} bytes per second`),
      );
    }
    timer = setTimeout(check, Math.min(1000, slowMs, leftMs));
  };
  // No body is slow before.
  let timer = setTimeout(check, Math.min(slowMs, totalMs));
  return () => clearTimeout(timer);
}
