import { expect, test } from 'vitest';
import { type ConsumerState, detectStall } from './stall-detector.ts';

const state = (at: number, change: Partial<ConsumerState> = {}): ConsumerState => ({
  at,
  created: 'then',
  delivered: 7,
  pending: 3,
  ackPending: 1,
  concurrency: 4,
  running: 1,
  ...change,
});
const detect = () => detectStall({ idleMs: 30, heldMs: 300 });

test('detectStall() reports a consumer that delivers nothing despite messages and free slots', () => {
  const reason = detect();
  expect([0, 10, 29, 30].map((at) => reason(state(at)))).toEqual([
    null,
    null,
    null,
    'pending messages are not delivered',
  ]);
});

test.each<[string, Partial<ConsumerState>]>([
  ['a delivery', { delivered: 8 }],
  ['a new consumer', { created: 'now' }],
  ['an empty queue', { pending: 0 }],
  ['a full consumer', { ackPending: 4 }],
  ['a full process', { running: 4 }],
])('%s restarts the idle time', (_name, change) => {
  const reason = detect();
  expect([reason(state(0)), reason(state(20, change)), reason(state(40, change))]).toEqual([
    null,
    null,
    null,
  ]);
  expect(reason(state(45))).toBeNull();
});

test('detectStall() reports unacknowledged messages that no handler here holds', () => {
  const reason = detect();
  const held = { ackPending: 4, running: 0, pending: 0 };
  expect([0, 150, 299, 300].map((at) => reason(state(at, held)))).toEqual([
    null,
    null,
    null,
    'delivered messages are not acknowledged',
  ]);
});

test('detectStall() ignores messages that a handler here holds', () => {
  const reason = detect();
  const busy = { ackPending: 4, running: 1 };
  expect([0, 1_000, 2_000].map((at) => reason(state(at, busy)))).toEqual([null, null, null]);
});
