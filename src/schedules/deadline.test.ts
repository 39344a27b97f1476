import { afterEach, describe, expect, test } from 'vitest';
import { createCrashingProcess } from '../../test/support/crash.ts';
import { openScheduleFixture, type ScheduleFixture } from '../../test/support/schedules.ts';
import { findStores } from '../../test/support/stores.ts';
import { approvalWaitMs } from '../jobs/context.ts';
import type { Caller } from './change.ts';
import { leaseMs } from './context.ts';
import { runDueSchedules } from './due.ts';

let fixture: ScheduleFixture;
afterEach(() => fixture.close());

const request = JSON.stringify({ items: [{ item_id: '1', shop_id: '7', country: 'sg' }] });
/** Creates a schedule that awaits approval. */
const create = (caller: Caller) => fixture.create(caller, { kind: 'variant_sold', request });
const rejected = { state: 'rejected', notice: 'rejected', decideBy: null, dueAt: null };

describe.each(await findStores())('on $name', ({ open }) => {
  describe.skipIf(open === null)('a schedule on which no operator decides', () => {
    test('is rejected at its deadline by one of several processes', async () => {
      fixture = await openScheduleFixture({}, open?.());
      const { id, revision, decideBy } = await create(await fixture.createCaller(100));
      await fixture.tick(approvalWaitMs - 1);
      expect(await fixture.get(id)).toMatchObject({ state: 'awaiting_approval', decideBy, revision });
      await fixture.clock.advance(1);
      await Promise.all(Array.from({ length: 5 }, () => runDueSchedules(fixture.context)));
      // One claim and one result.
      expect(await fixture.get(id)).toMatchObject({ ...rejected, revision: revision + 2 });
    });

    test('is approved or rejected, but not both, if an operator decides at the last moment', async () => {
      fixture = await openScheduleFixture({}, open?.());
      const { id } = await create(await fixture.createCaller(100));
      await fixture.clock.advance(approvalWaitMs);
      const [approved] = await Promise.allSettled([fixture.approve(id), runDueSchedules(fixture.context)]);
      await fixture.tick(leaseMs);
      const { state } = await fixture.get(id);
      expect(state).toBe(approved.status === 'fulfilled' ? 'active' : 'rejected');
    });

    test.each(['before', 'after'] as const)('is rejected after a crash %s each call', async (when) => {
      fixture = await openScheduleFixture({}, open?.());
      const caller = await fixture.createCaller(100);
      let last = 0;
      for (let isCrashed = true; isCrashed; ) {
        last += 1;
        const { id } = await create(caller);
        await fixture.clock.advance(approvalWaitMs);
        const victim = createCrashingProcess(fixture.context, last, when);
        await runDueSchedules(victim.context).catch(() => {});
        isCrashed = victim.isCrashed();
        await fixture.tick(leaseMs);
        expect(await fixture.get(id), `crash ${last}, ${when} ${victim.crashedAt()}`).toMatchObject(rejected);
        await fixture.context.store.deleteSchedule(id);
      }
      expect(last).toBeGreaterThan(3);
    });
  });
});
