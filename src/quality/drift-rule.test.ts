import { describe, expect, test } from 'vitest';
import { accepted, computeShares, type FieldHistory, learn, noHistory } from './drift-rule.ts';

const example = { region: 'sg', input: { item_id: '1' } };

/** Adds `pages` pages to a history, ten at a time. A share of them lacks the field. */
function grownBy(history: FieldHistory, pages: number, share: number, now = 0): FieldHistory {
  let grown = history;
  for (let at = 0; at < pages; at += 10) {
    const absent = Math.round(share * (at + 10)) - Math.round(share * at);
    grown = learn(grown, [10, absent], absent > 0 ? example : null, now);
  }
  return grown;
}

/**
 * Returns the number of pages after which an alarm begins when this share lacks the field, or null
 * for never.
 */
function alarmAfter(history: FieldHistory, share: number): number | null {
  let grown = history;
  for (let pages = 0; pages <= 5_000; pages += 10) {
    if (grown.alarm) return pages;
    grown = grownBy(grown, 10, share);
  }
  return null;
}

describe('an alarm', () => {
  test.each([
    ['a field that was always there goes', 0, 1, 130],
    ['it goes from half of the pages', 0, 0.5, 210],
    ['a field absent on a tenth goes', 0.1, 1, 120],
    ['one absent on a third goes', 0.33, 1, 150],
  ])('starts when %s', (_name, baseline, now, pages) => {
    const found = alarmAfter(grownBy(noHistory, 1_000, baseline), now);
    expect(found).not.toBeNull();
    expect(found!).toBeLessThanOrEqual(pages);
    expect(found!).toBeGreaterThanOrEqual(50);
  });

  test('starts with a short history, 50 pages after the first 50', () => {
    expect(alarmAfter(grownBy(noHistory, 50, 0), 1)).toBe(50);
  });

  test.each([
    ['a field that was never there stays away', 1, 1],
    ['it was mostly absent before', 0.75, 1],
    ['it was often absent and is a little more often', 0.3, 0.5],
    ['it is absent from a third of the pages', 0, 0.33],
    ['nothing changes', 0.5, 0.5],
    ['it comes back', 1, 0],
  ])('does not start when %s', (_name, baseline, now) => {
    expect(alarmAfter(grownBy(noHistory, 1_000, baseline), now)).toBeNull();
  });

  test('does not start on the first page', () => {
    expect(alarmAfter(noHistory, 1)).toBeNull();
  });

  test('does not start after a few bad pages among good ones', () => {
    const good = grownBy(noHistory, 1_000, 0);
    expect(grownBy(grownBy(good, 60, 1), 500, 0).alarm).toBeNull();
  });

  test('has its start, the share of the baseline and of the last 200 pages, and an example', () => {
    const alarmed = grownBy(grownBy(noHistory, 500, 0.1), 300, 1, 77);
    expect(alarmed.alarm).toEqual({ since: 77, usual: 0.1 });
    expect(alarmed.example).toEqual(example);
    const { pages, absent } = computeShares(alarmed);
    expect(absent).toBe(1);
    expect(pages).toBeGreaterThanOrEqual(200);
    expect(pages).toBeLessThan(260);
  });
});

describe('an alarm', () => {
  const alarmed = grownBy(grownBy(noHistory, 1_000, 0), 500, 1, 77);

  test('lasts while the field is missing, and keeps its baseline', () => {
    const later = grownBy(alarmed, 10_000, 1, 99);
    expect(later.alarm).toEqual({ since: 77, usual: 0 });
    expect(computeShares(later).baseline).toBe(0);
  });

  test('lasts while half of the pages lack the field', () => {
    expect(grownBy(alarmed, 1_000, 0.3).alarm).not.toBeNull();
  });

  test('ends when the field is back, and can begin again', () => {
    const back = grownBy(alarmed, 300, 0.05);
    expect(back.alarm).toBeNull();
    expect(grownBy(back, 500, 1, 88).alarm?.since).toBe(88);
  });

  test('ends when an operator accepts it; its share becomes the baseline', () => {
    const known = accepted(alarmed);
    expect(known.alarm).toBeNull();
    expect(computeShares(known).baseline).toBe(1);
    expect(alarmAfter(known, 1)).toBeNull();
  });
});

test('acceptance changes nothing without an alarm', () => {
  const quiet = grownBy(noHistory, 500, 0.2);
  expect(accepted(quiet)).toBe(quiet);
});

test('the baseline follows slow changes', () => {
  const moved = grownBy(grownBy(noHistory, 5_000, 0), 5_000, 0.3);
  expect(computeShares(moved).baseline).toBeGreaterThan(0.25);
});

test('a history stays small', () => {
  const long = grownBy(noHistory, 20_000, 0.2);
  expect(long.recent.length).toBeLessThanOrEqual(5);
  expect(long.earlier[0]).toBeLessThanOrEqual(2_000);
});

test('computeShares() has the share of the newest pages that contradict themselves', () => {
  const counted = learn(learn(noHistory, [10, 1], null, 0), [30, 0, 10], null, 0);
  expect(computeShares(counted)).toEqual({
    pages: 40,
    absent: 1 / 40,
    contradicted: 1 / 4,
    baseline: null,
  });
  const stored: FieldHistory = { ...noHistory, recent: [[10, 0]] };
  expect(computeShares(stored)).toMatchObject({ pages: 10, contradicted: 0 });
});
