import { describe, expect, test } from 'vitest';
import { createManualClock } from '../../../test/support/time/clock.ts';
import type { JobSnapshot } from '../../kinds/kind.ts';
import type { Batch, Outcome } from '../../store/batches.ts';
import { aBatch, aFailure, aJob, aSuccess, units } from '../../store/conformance/samples.ts';
import type { Job } from '../../store/documents.ts';
import { jobTag, tagOf } from './watch.ts';

const dayMs = 24 * 3_600_000;
const job = aJob();
const clock = createManualClock(100 * dayMs);

function snapshot(segments: Partial<JobSnapshot> = {}, fields: Partial<Job> = {}): JobSnapshot {
  return { job: { ...job, ...fields }, link: async () => '', itemToken: () => '', ...segments };
}

const counts = (success: number) => ({
  units: { total: 5, success, failed: 0 },
  batches: { total: 5, success, failed: 0 },
});
const summary = (fields: Partial<Batch>) => {
  const {
    units: its,
    outcomes,
    segments,
    stalledClaims,
    isolated,
    ...rest
  } = aBatch(job, 0, units(2), fields);
  return { ...rest, total: its.length };
};
const batch = aBatch(job, 0);
const unit = (outcome: Outcome | undefined, fields: Partial<Batch> = {}, index = 0) => ({
  unit: batch.units[index]!,
  outcome,
  batch: { ...batch, ...fields },
  index,
});

describe('tagOf()', () => {
  test('returns a weak tag', () => {
    expect(tagOf(clock, snapshot())).toMatch(/^W\/"[A-Za-z0-9_-]{22}"$/);
  });

  test('returns another tag for each state that clients can distinguish', () => {
    const shown: JobSnapshot[] = [
      snapshot(),
      snapshot({}, { id: 'another' }),
      snapshot({}, { state: 'completed' }),
      snapshot({}, { refunded: 5 }),
      snapshot({}, { reason: 'No.' }),
      snapshot({}, { file: { path: 'a', contentType: 'b', items: 1, bytes: 2, sha256: 'c' } }),
      snapshot({ counts: counts(0) }),
      snapshot({ counts: counts(1) }),
      snapshot({ batches: [summary({})] }),
      snapshot({ batches: [summary({ success: 1 }), summary({})] }),
      snapshot({ batches: [summary({ success: 1 }), summary({ success: 2 })] }),
      snapshot({ batches: [summary({ failed: 1 }), summary({})] }),
      snapshot({ batches: [summary({ failed: 1 }), summary({ failed: 2 })] }),
      snapshot({ batches: [summary({ state: 'done' }), summary({})] }),
      snapshot({ batches: [summary({ state: 'done' }), summary({ state: 'done' })] }),
      snapshot({ unit: { ...unit(aSuccess()), payload: null } }),
      snapshot({ unit: { ...unit(aFailure), payload: null } }),
    ];
    const tags = shown.map((each) => tagOf(clock, each));
    expect(tags.filter((tag, index) => tags.indexOf(tag) !== index)).toEqual([]);
  });

  test('counts the successes, the failures, and the finished batches of units', () => {
    const done = { id: 'other', state: 'done' } as const;
    const shown = [
      [unit(undefined), unit(undefined, {}, 1)],
      [unit(aSuccess()), unit(undefined, {}, 1)],
      [unit(aSuccess()), unit(aSuccess(), {}, 1)],
      [unit(aFailure), unit(undefined, {}, 1)],
      [unit(aFailure), unit(aFailure, {}, 1)],
      [unit(aFailure, done), unit(aFailure, {}, 1)],
      [unit(aFailure, done), unit(aFailure, { state: 'done' }, 1)],
    ].map((its) => tagOf(clock, snapshot({ units: its })));
    expect(new Set(shown).size).toBe(shown.length);
    // Two units of one batch end in the same batch.
    const same = [unit(aFailure, done), unit(aFailure, done, 1)];
    expect(tagOf(clock, snapshot({ units: same }))).toBe(shown[5]);
    expect(tagOf(clock, snapshot({ batches: [summary({ failed: 2, state: 'done' })] }))).toBe(
      shown[5],
    );
  });

  test('returns another tag for a unit with an outcome than for one without', () => {
    const unfinished = snapshot({ unit: { ...unit(undefined), payload: null } });
    expect(tagOf(clock, unfinished)).toBe(tagOf(clock, snapshot()));
  });

  test('returns another tag if the job waits for something else', () => {
    const tags = [null, 'site', 'queue'].map((reason) => tagOf(clock, snapshot(), reason));
    expect(new Set(tags).size).toBe(3);
    expect(tagOf(clock, snapshot())).toBe(tags[0]);
  });

  test('keeps the tag for the rest of the day', async () => {
    const today = tagOf(clock, snapshot());
    await clock.advance(dayMs - 1);
    expect(tagOf(clock, snapshot())).toBe(today);
    await clock.advance(1);
    expect(tagOf(clock, snapshot())).not.toBe(today);
  });
});

test('jobTag() includes the additional parts of a response', () => {
  expect(jobTag(clock, job, [1])).toBe(jobTag(clock, job, [1]));
  expect(jobTag(clock, job, [1])).not.toBe(jobTag(clock, job, [2]));
});
