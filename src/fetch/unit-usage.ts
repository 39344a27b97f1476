import { Fault } from '../contract/fault.ts';
import type { MarketLimits } from './limits.ts';

/** What one unit has taken of its market's limits. */
export interface UnitUsage {
  /** Adds a request that took `ms` and brought a page of `bytes`. Faults: `page_too_large`, `page_timeout`, neither
   *  of which another try of the unit would avoid. */
  add(bytes: number, ms: number): void;
}

/** Starts counting for one unit of a market. */
export function createUnitUsage(market: string, limits: MarketLimits): UnitUsage {
  let bytes = 0;
  let ms = 0;
  const exceeded = (code: 'page_too_large' | 'page_timeout', message: string) =>
    new Fault(code, `${message}, the limit of ${market}`, { final: true });
  return {
    add: (pageBytes, requestMs) => {
      bytes += pageBytes;
      ms += requestMs;
      if (pageBytes > limits.pageBytes) {
        throw exceeded('page_too_large', `the page is larger than ${limits.pageBytes} bytes`);
      }
      if (bytes > limits.unitBytes) {
        throw exceeded('page_too_large', `the unit's pages hold more than ${limits.unitBytes} bytes`);
      }
      if (ms > limits.unitMs) {
        throw exceeded('page_timeout', `the unit's requests took longer than ${limits.unitMs / 1000} s`);
      }
    },
  };
}
