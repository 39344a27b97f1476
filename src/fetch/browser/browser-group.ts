import type { Clock } from '../../base/clock.ts';
import type { SessionScope } from '../cookie-store.ts';
import type { BrowserPool } from './pool.ts';

/**
 * Time for which a browser that cannot be reached gets no pages while others do, in milliseconds.
 */
const retryMs = 5_000;

interface Member<Page> {
  pool: BrowserPool<Page>;
  /** Monotonic time until which other browsers are preferred. */
  avoidedUntil: number;
}

/** Browsers that share the pages: each page opens in the one with the fewest. */
export class BrowserGroup<Page> {
  readonly #members: readonly Member<Page>[];
  readonly #clock: Clock;

  constructor(pools: readonly BrowserPool<Page>[], clock: Clock) {
    this.#members = pools.map((pool) => ({ pool, avoidedUntil: Number.NEGATIVE_INFINITY }));
    this.#clock = clock;
  }

  /**
   * Opens a page as BrowserPool.use() does, in another browser if one cannot be started or reached.
   * Rejects with the fault of the last one if none can.
   */
  async use<Value>(
    scope: SessionScope,
    task: (page: Page) => Promise<Value>,
    signal?: AbortSignal,
  ): Promise<Value> {
    const untried = new Set(this.#members);
    for (;;) {
      const member = this.#select([...untried]);
      untried.delete(member);
      try {
        await member.pool.start();
      } catch (error) {
        member.avoidedUntil = this.#clock.steady() + retryMs;
        if (untried.size === 0) throw error;
        continue;
      }
      return member.pool.use(scope, task, signal);
    }
  }

  /** Closes the contexts of a market's region without saving their cookies. */
  drop(market: string, region: string): void {
    for (const { pool } of this.#members) pool.drop(market, region);
  }

  /** Closes all browsers immediately. Running tasks fail. */
  async close(): Promise<void> {
    await Promise.all(this.#members.map(({ pool }) => pool.close()));
  }

  #select(members: readonly Member<Page>[]): Member<Page> {
    const now = this.#clock.steady();
    const rank = ({ pool, avoidedUntil }: Member<Page>) =>
      avoidedUntil > now ? Number.MAX_SAFE_INTEGER : pool.load;
    return members.reduce((best, member) => (rank(member) < rank(best) ? member : best));
  }
}
