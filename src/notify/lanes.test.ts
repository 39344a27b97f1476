import { expect, test } from 'vitest';
import { settled, standingClock } from '../../test/support/clock.ts';
import { createLanes, type Lanes } from './lanes.ts';

/** Lanes on a clock that stands, and messages whose receivers answer when the test says so. */
function open() {
  const clock = standingClock(1_000_000);
  const lanes: Lanes = createLanes(clock);
  const begun: string[] = [];
  const putOff: [name: string, ms: number][] = [];
  const answers = new Map<string, (well: boolean) => void>();
  return {
    clock,
    lanes,
    begun,
    putOff,
    add: (receiver: string, name: string) =>
      lanes.add(receiver, {
        run: () => {
          begun.push(name);
          return new Promise<boolean>((resolve) => answers.set(name, resolve));
        },
        putOff: async (ms) => void putOff.push([name, ms]),
      }),
    async answer(name: string, afterMs: number, well: boolean) {
      await clock.pass(afterMs);
      answers.get(name)!(well);
      await settled();
    },
  };
}

test('a receiver gets four messages at once, the others in turn, and no other receiver waits for it', async () => {
  const { lanes, begun, putOff, add, answer } = open();
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) await add('slow', name);
  await add('other', 'x');
  expect(begun).toEqual(['a', 'b', 'c', 'd', 'x']);
  expect(lanes.held()).toBe(7);
  await answer('b', 10, true);
  expect(begun.at(-1)).toBe('e');
  for (const name of ['a', 'c', 'd', 'e', 'f', 'x']) await answer(name, 10, true);
  await lanes.idle();
  expect(begun).toHaveLength(7);
  expect(putOff).toEqual([]);
  expect(lanes.held()).toBe(0);
});

test('once one fails, those that wait are put off and the next are sent one at a time, until one gets through', async () => {
  const { begun, putOff, add, answer } = open();
  for (const name of ['a', 'b', 'c', 'd', 'e']) await add('down', name);
  await answer('a', 10_000, false);
  expect(putOff).toEqual([['e', 10_000]]);
  for (const name of ['b', 'c', 'd']) await answer(name, 0, false);
  await add('down', 'f');
  await add('down', 'g');
  expect(begun).toEqual(['a', 'b', 'c', 'd', 'f']);
  expect(putOff.at(-1)![0]).toBe('g');
  await answer('f', 10, true);
  for (const name of ['h', 'i', 'j', 'k']) await add('down', name);
  expect(begun.slice(-4)).toEqual(['h', 'i', 'j', 'k']);
});

test('those that are put off come back one after the other, none later than in ten minutes', async () => {
  const { putOff, add, answer } = open();
  await add('down', 'a');
  await answer('a', 10_000, false);
  await add('down', 'b');
  for (let turn = 0; turn < 100; turn++) await add('down', `${turn}`);
  const waits = putOff.map(([, ms]) => ms);
  expect(waits.slice(0, 3)).toEqual([10_000, 20_000, 30_000]);
  expect(Math.max(...waits)).toBe(600_000);
});

test('none waits here longer than a few seconds', async () => {
  const { putOff, add, answer } = open();
  for (const name of ['a', 'b']) await add('slow', name);
  await answer('a', 8_000, true);
  for (const name of ['c', 'd', 'e', 'f', 'g', 'h']) await add('slow', name);
  // Two fit into five seconds when four take eight.
  expect(putOff.map(([name]) => name)).toEqual(['h']);
});

test('what waits is given back at the end', async () => {
  const { lanes, putOff, add, answer } = open();
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) await add('slow', name);
  await lanes.clear();
  expect(putOff).toEqual([
    ['e', 0],
    ['f', 0],
  ]);
  for (const name of ['a', 'b', 'c', 'd']) await answer(name, 0, true);
  expect(lanes.held()).toBe(0);
});
