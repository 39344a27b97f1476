import { expect, test } from 'vitest';
import { grant, type Holding } from './permits.ts';

const now = 1_000_000;
const ask = (requested: number, more: object = {}) => ({
  holder: 'me',
  busy: 0,
  requested,
  limit: 8,
  now,
  until: now + 6_000,
  ...more,
});
const other = (held: number, requested: number, holder = 'other', until = now + 1): Holding => ({
  holder,
  held,
  requested,
  until,
});
const permits = (holdings: Holding[], request: ReturnType<typeof ask>) =>
  grant(holdings, request).permits;

test('a single process gets what it requests, up to the limit', () => {
  expect(permits([], ask(3))).toBe(3);
  expect(permits([], ask(30))).toBe(8);
  expect(permits([], ask(0))).toBe(0);
});

test('permits of other processes are unavailable until they expire', () => {
  expect(permits([other(5, 8)], ask(8))).toBe(3);
  expect(permits([other(8, 8)], ask(8))).toBe(0);
  expect(permits([other(8, 8, 'other', now)], ask(8))).toBe(8);
});

test('a process with more than its share returns idle permits', () => {
  const waiting = [other(0, 8)];
  expect(permits(waiting, ask(8))).toBe(4);
  expect(grant(waiting, ask(8, { busy: 6 }))).toEqual({
    permits: 4,
    isAlone: false,
    holdings: [...waiting, { holder: 'me', held: 6, requested: 8, until: now + 6_000 }],
  });
  expect(permits([other(0, 1)], ask(8))).toBe(7);
  expect(permits([other(0, 2, 'a'), other(0, 20, 'b')], ask(8))).toBe(3);
});

test('a process is alone while no other holds or requests permits', () => {
  expect(grant([], ask(8)).isAlone).toBe(true);
  expect(grant([other(0, 1)], ask(8)).isAlone).toBe(false);
  expect(grant([other(8, 8, 'other', now)], ask(8)).isAlone).toBe(true);
});

test('busy permits are kept even if none are requested', () => {
  expect(grant([], ask(0, { busy: 2 })).holdings).toEqual([
    { holder: 'me', held: 2, requested: 0, until: now + 6_000 },
  ]);
  expect(grant([other(1, 1)], ask(0)).holdings).toEqual([other(1, 1)]);
});

test('gives each process its turn if there are fewer permits than processes', () => {
  const names = ['a', 'b', 'c', 'd', 'e'];
  const lucky = new Set<string>();
  for (let turn = 0; turn < 5; turn += 1) {
    const at = now + turn * 5_000;
    const won = names.filter((name) => {
      const rest = names.filter((one) => one !== name).map((one) => other(0, 3, one, at + 1));
      return permits(rest, ask(3, { holder: name, limit: 2, now: at })) === 1;
    });
    expect(won).toHaveLength(2);
    for (const name of won) lucky.add(name);
  }
  expect(lucky.size).toBe(5);
});
