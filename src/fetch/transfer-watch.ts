import { Fault } from '../base/fault.ts';
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
  const late = setTimeout(
    () => end(new Fault('page_timeout', `the page took longer than ${totalMs} ms`)),
    totalMs,
  );
  const checkSpeed = () => {
    const { bytes, ms } = exchange.received();
    if (ms < slowMs || bytes * 1000 >= minBytesPerSecond * ms) return;
    end(new Fault('page_timeout', `the page came at less than ${minBytesPerSecond} bytes per second`));
  };
  const slow = setInterval(checkSpeed, Math.min(1000, slowMs));
  return () => {
    clearTimeout(late);
    clearInterval(slow);
  };
}
