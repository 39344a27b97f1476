import { expect, test } from 'vitest';
import { createOriginTally } from './origin-tally.ts';

const minute = 60_000;
const sg = { origin: 'https://sg.example', market: 'mkta', region: 'sg' };
const th = { ...sg, region: 'th' };

test('take() returns counts by origin, market, region and minute, once', () => {
  let now = 10 * minute + 59_000;
  const tally = createOriginTally({ now: () => now });
  tally.ended(sg, 100);
  tally.ended(sg, 50);
  tally.classified(sg, 'refused');
  tally.ended(th, 7);
  now += 1_000;
  tally.classified(sg, 'failed');
  const first = { minute: 10 * minute, refused: 0, failed: 0 };
  expect(tally.take()).toEqual([
    { ...sg, ...first, requests: 2, refused: 1, milliseconds: 150 },
    { ...th, ...first, requests: 1, milliseconds: 7 },
    { ...sg, minute: 11 * minute, requests: 0, refused: 0, failed: 1, milliseconds: 0 },
  ]);
  expect(tally.take()).toEqual([]);
});

test('putBack() adds to the counts made in the meantime', () => {
  const tally = createOriginTally({ now: () => minute });
  tally.ended(sg, 100);
  const taken = tally.take();
  tally.ended(sg, 11);
  tally.classified(sg, 'failed');
  tally.putBack(taken);
  expect(tally.take()).toEqual([{ ...sg, minute, requests: 2, refused: 0, failed: 1, milliseconds: 111 }]);
});

test('keeps at most 5,000 rows while the store is unavailable', () => {
  let now = 0;
  const tally = createOriginTally({ now: () => now });
  for (let turn = 0; turn < 6_000; turn++) {
    now = turn * minute;
    tally.ended(sg, 1);
  }
  const rows = tally.take();
  expect(rows).toHaveLength(5_000);
  expect(rows[0]?.minute).toBe(1_000 * minute);
});
