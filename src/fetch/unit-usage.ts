import { Fault } from '../contract/fault.ts';
import type { MarketLimits } from './limits.ts';

/** Usage of a market's limits by one unit. */
export interface UnitUsage {
  /** Adds a request that took `ms` and returned a page of `bytes`. Throws `page_too_large` or `page_timeout` if a limit is
   *  exceeded; neither is retried. */
  add(bytes: number, ms: number): void;
}

/** Creates the counters of one unit of a market. */
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
        throw exceeded('page_too_large', `the pages of the unit exceed ${limits.unitBytes} bytes`);
      }
      if (ms > limits.unitMs) {
        throw exceeded('page_timeout', `the requests of the unit took longer than ${limits.unitMs / 1000} s`);
      }
    },
  };
}
