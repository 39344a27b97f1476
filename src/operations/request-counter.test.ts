import { expect, test } from 'vitest';
import { createRequestCounter } from './request-counter.ts';

const minute = 60_000;
const sg = { origin: 'https://sg.example', market: 'mkta', region: 'sg' };
const th = { ...sg, region: 'th' };

test('take() returns counts by origin, market, region and minute, once', () => {
  let now = 10 * minute + 59_000;
  const counter = createRequestCounter({ now: () => now });
  counter.ended(sg, 100);
  counter.ended(sg, 50);
  counter.classified(sg, 'refused');
  counter.ended(th, 7);
  now += 1_000;
  counter.classified(sg, 'failed');
  const first = { minute: 10 * minute, refused: 0, failed: 0 };
  expect(counter.take()).toEqual([
    { ...sg, ...first, requests: 2, refused: 1, milliseconds: 150 },
    { ...th, ...first, requests: 1, milliseconds: 7 },
    { ...sg, minute: 11 * minute, requests: 0, refused: 0, failed: 1, milliseconds: 0 },
  ]);
  expect(counter.take()).toEqual([]);
});

test('putBack() adds to the counts made in the meantime', () => {
  const counter = createRequestCounter({ now: () => minute });
  counter.ended(sg, 100);
  const taken = counter.take();
  counter.ended(sg, 11);
  counter.classified(sg, 'failed');
  counter.putBack(taken);
  expect(counter.take()).toEqual([
    { ...sg, minute, requests: 2, refused: 0, failed: 1, milliseconds: 111 },
  ]);
});

test('keeps at most 5,000 rows while the store is unavailable', () => {
  let now = 0;
  const counter = createRequestCounter({ now: () => now });
  for (let turn = 0; turn < 6_000; turn++) {
    now = turn * minute;
    counter.ended(sg, 1);
  }
  const rows = counter.take();
  expect(rows).toHaveLength(5_000);
  expect(rows[0]?.minute).toBe(1_000 * minute);
});
