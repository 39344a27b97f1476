import { changeKey, type PageChange, withChanges } from '../../../sandbox/changes.ts';
import { Fault } from '../../../src/contract/fault.ts';
import type { SubmitOptionValues } from '../../../src/contract/submit-options.ts';
import { track } from '../../../src/history/tracker.ts';
import { approve } from '../../../src/jobs/steps/decide.ts';
import type { Job } from '../../../src/store/documents.ts';
import type { TrackingRun } from '../../../src/store/history.ts';
import { newTrackingRun } from '../../../src/store/tracking-run.ts';
import type { JobFixture } from './jobs.ts';

/** Runs tracked variant-sold jobs of a fixture whose marketplace changes. */
export interface Tracking {
  /** Changes an item, of region `id` by default, from the next job on. Null restores it. */
  changeItem(id: string, change: PageChange | null, region?: string): void;
  /** Makes the pages of an item unreadable, or readable again. */
  failItem(id: string, fails: boolean): void;
  /** Runs a job on items, with a second between jobs, and returns it without comparing it. */
  end(
    userId: string,
    items: readonly string[],
    track?: string,
    options?: SubmitOptionValues,
  ): Promise<Job>;
  /** Runs a job on items, compares it, and returns its run. */
  run(
    userId: string,
    items: readonly string[],
    track?: string,
    options?: SubmitOptionValues,
  ): Promise<TrackingRun>;
  /** Compares jobs until none is due. */
  compare(): Promise<void>;
}

/** Opens the tracking of a fixture's jobs. */
export function openTracking(fixture: JobFixture): Tracking {
  const { context, clock } = fixture;
  const changes = new Map<string, PageChange>();
  const failing = new Set<string>();
  fixture.wrapFetch((fetch, itemId) => async (request) => {
    if (failing.has(itemId)) throw new Fault('page_too_large', 'too many bytes');
    return withChanges(changes, () => fetch(request));
  });
  const { signal } = new AbortController();
  const compare = async () => {
    while (await track(context, signal));
  };
  const end: Tracking['end'] = async (userId, items, option = 'true', others = {}) => {
    await clock.advance(1_000);
    const request = { country: 'id', items: items.map((id) => ({ item_id: id, shop_id: '77' })) };
    const options = { ...others, track: option };
    const { jobId } = await fixture.submit(
      userId,
      'SubmitVariantSold',
      request,
      undefined,
      options,
    );
    await approve(context, jobId, userId);
    return fixture.waitForState(jobId, 'completed', 'partial_complete', 'failed');
  };
  return {
    failItem: (id, fails) => {
      if (fails) failing.add(id);
      else failing.delete(id);
    },
    changeItem: (id, change, region = 'id') => {
      const key = changeKey('mkta', region, id);
      if (change === null) changes.delete(key);
      else changes.set(key, change);
    },
    end,
    async run(userId, items, option, others) {
      const job = await end(userId, items, option, others);
      const run = newTrackingRun(job);
      if (run !== null) await context.store.trackingRuns.insert({ ...run, activeUser: null });
      await compare();
      return (await context.store.trackingRuns.get(job.id))!;
    },
    compare,
  };
}
