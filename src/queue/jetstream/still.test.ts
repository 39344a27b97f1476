import { expect, test } from 'vitest';
import { type Look, watchForStillness } from './still.ts';

const look = (at: number, change: Partial<Look> = {}): Look => ({
  at,
  created: 'then',
  delivered: 7,
  waiting: 3,
  held: 1,
  concurrency: 4,
  running: 1,
  ...change,
});
const watch = () => watchForStillness({ idleMs: 30, heldMs: 300 });

test('a consumer with messages and free slots that delivers nothing stands still', () => {
  const still = watch();
  expect([0, 10, 29, 30].map((at) => still(look(at)))).toEqual([
    null,
    null,
    null,
    'messages wait and are not delivered',
  ]);
});

test.each<[string, Partial<Look>]>([
  ['a delivery', { delivered: 8 }],
  ['a new consumer', { created: 'now' }],
  ['no message', { waiting: 0 }],
  ['every slot taken', { held: 4 }],
  ['every slot of this process taken', { running: 4 }],
])('%s in between begins the time anew', (_name, change) => {
  const still = watch();
  expect([still(look(0)), still(look(20, change)), still(look(40, change))]).toEqual([null, null, null]);
  expect(still(look(45))).toBeNull();
});

test('slots that nobody here works in and nobody gives back stand still', () => {
  const still = watch();
  const held = { held: 4, running: 0, waiting: 0 };
  expect([0, 150, 299, 300].map((at) => still(look(at, held)))).toEqual([
    null,
    null,
    null,
    'messages in hand do not come back',
  ]);
});

test('slots that are being worked in may take their time', () => {
  const still = watch();
  expect([0, 1_000, 2_000].map((at) => still(look(at, { held: 4, running: 1 })))).toEqual([null, null, null]);
});
