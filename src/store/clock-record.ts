import type { ClockRecord } from '../base/clock.ts';
import type { Collections } from './collections.ts';

/** Names of the sequences that hold the state of the shared clock. */
const names = { aheadMs: 'clock.ahead', reached: 'clock.reached' };

/**
 * Returns the record of the shared clock in a store, for every stack. `store` is called late,
 * because the clock is created before its store.
 */
export function createClockRecord(store: () => Pick<Collections, 'sequences'>): ClockRecord {
  return {
    async read() {
      const found = await store().sequences.find({ name: { in: Object.values(names) } });
      const readValue = (name: string) => found.find((each) => each.name === name)?.value;
      const aheadMs = readValue(names.aheadMs);
      const reached = readValue(names.reached);
      if (aheadMs === undefined || reached === undefined) return null;
      return { aheadMs, reached };
    },
    async create({ aheadMs, reached }) {
      await store().sequences.insert({ name: names.reached, value: reached });
      await store().sequences.insert({ name: names.aheadMs, value: aheadMs });
    },
    async change(from, to) {
      const changed = await store().sequences.update(
        { name: names.aheadMs, value: from },
        { value: to },
      );
      return changed !== null;
    },
    async reach(time) {
      await store().sequences.update(
        { name: names.reached, value: { below: time } },
        { value: time },
      );
    },
  };
}
