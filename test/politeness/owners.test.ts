import { expect, test } from 'vitest';
import { createLog } from '../../src/base/log.ts';
import { createOriginThrottles, type OriginThrottles } from '../../src/fetch/origin-throttle.ts';
import type { OriginPolicy } from '../../src/fetch/policy.ts';
import { createOwners } from '../../src/queue/queue.ts';
import { ownersOf } from '../../src/stack/places.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { wrapMethods } from '../../src/store/wrap.ts';
import { createManualClock, type ManualClock } from '../support/time/clock.ts';

const start = 1_000_000_000_000;
const warmUpMs = 4_000;
const measuredMs = 10_000;
const responseMs = 300;
const usual: OriginPolicy = { concurrency: 8, requestsPerSecond: 20, robots: false, fetch: 'http' };
const large: OriginPolicy = { ...usual, concurrency: 256, requestsPerSecond: 200 };

/** Processes that share origins. Every origin has more work than it allows. */
class Simulation {
  /** Start of each request, by origin. */
  readonly sent = new Map<string, number[]>();
  /** Calls of the store for origins. */
  calls = 0;
  readonly clock: ManualClock = createManualClock(start);
  readonly store = openSqliteStore({ path: ':memory:' });
  readonly #throttles: ReadonlyMap<string, OriginThrottles>;
  readonly #owners = createOwners();

  constructor(processes: number) {
    const ids = Array.from({ length: processes }, (_, index) => `process ${index}`);
    const store = wrapMethods(this.store, (name, method) => (...parameters) => {
      if (['origins.reserve', 'origins.lease'].includes(name)) this.calls += 1;
      return method(...parameters);
    });
    this.#owners.use(ids);
    const options = {
      store,
      clock: this.clock,
      log: createLog('silent', 'test'),
      random: () => 0.5,
    };
    this.#throttles = new Map(
      ids.map((holder) => [
        holder,
        createOriginThrottles({ ...options, holder, firstPauseMs: 2_000 }),
      ]),
    );
  }

  /** Starts work for an origin at its owners. */
  run(origin: string, policy: OriginPolicy): void {
    const owners = this.#owners.of({ name: origin, owners: ownersOf(policy) });
    const units = Math.ceil((3 * policy.concurrency) / owners.length);
    this.sent.set(origin, []);
    for (const owner of owners)
      for (let unit = 0; unit < units; unit++)
        void this.#work(this.#throttles.get(owner)!, origin, policy);
  }

  async #work(throttles: OriginThrottles, origin: string, policy: OriginPolicy): Promise<void> {
    for (;;) {
      const { permits, tokens } = throttles.at(origin, origin, policy);
      const release = await permits.acquire();
      await tokens.take();
      this.sent.get(origin)!.push(this.clock.steady() - start);
      await this.clock.sleep(responseMs);
      release();
    }
  }
}

test.each([1, 4, 16, 56, 200])(
  '%i processes use the full rates of origins with as many store calls as one',
  async (processes) => {
    const origins = [
      ...Array.from({ length: 5 }, (_, index) => [`usual ${index}`, usual] as const),
      ['large', large] as const,
    ];
    const simulation = new Simulation(processes);
    for (const [origin, policy] of origins) simulation.run(origin, policy);
    await simulation.clock.advance(warmUpMs);
    const before = simulation.calls;
    await simulation.clock.advance(measuredMs);
    const calls = simulation.calls - before;

    let requests = 0;
    for (const [origin, { requestsPerSecond }] of origins) {
      const sent = simulation.sent.get(origin)!;
      const measured = sent.filter((at) => at >= warmUpMs).length;
      expect(measured / (requestsPerSecond * (measuredMs / 1_000))).toBeGreaterThanOrEqual(0.97);
      for (const from of sent) {
        const within = sent.filter((at) => at >= from && at < from + 1_000).length;
        expect(within).toBeLessThanOrEqual(requestsPerSecond);
      }
      requests += measured;
    }
    expect(calls / requests).toBeLessThan(0.1);
    await simulation.store.close();
  },
);
