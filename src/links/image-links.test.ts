import { expect, test } from 'vitest';
import { createManualClock } from '../../test/support/time/clock.ts';
import { createImageLinks } from './image-links.ts';
import { deriveLinkSecrets } from './secrets.ts';

const day = 24 * 3600 * 1000;
const start = Date.UTC(2030, 0, 7, 10);
const url = 'https://cdn.test/a.jpg?w=1&h=2#x';

test('verify() returns the address of a path, also under /v1 and with an earlier secret', () => {
  const clock = createManualClock(start);
  const links = createImageLinks({ secrets: deriveLinkSecrets(['old'], clock), clock });
  const rotated = createImageLinks({ secrets: deriveLinkSecrets(['new', 'old'], clock), clock });
  expect(links.verify(links.path(url))).toBe(url);
  expect(rotated.verify(`/v1${links.path(url)}`)).toBe(url);
});

test('path() is the same for a day, and expires', async () => {
  const clock = createManualClock(start);
  const links = createImageLinks({ secrets: deriveLinkSecrets(['a'], clock), clock });
  const path = links.path(url);
  await clock.advance(day - (clock.now() % day) - 1);
  expect(links.path(url)).toBe(path);
  await clock.advance(1);
  expect(links.path(url)).not.toBe(path);
  expect(links.verify(path)).toBe(url);
  await clock.advance(day);
  expect(() => links.verify(path)).toThrow('expired');
});

test.each([
  (path: string) => path.replace('cdn.test', 'evil.test'),
  (path: string) => path.replace(/expires=\d+/, 'expires=99999999999'),
  (path: string) => path.replace(/signature=./, 'signature='),
  () => '/images?url=a',
  () => '/images',
])('verify() rejects a changed path (%#)', (change) => {
  const links = createImageLinks({
    secrets: deriveLinkSecrets(['a'], { now: () => start }),
    clock: createManualClock(start),
  });
  expect(() => links.verify(change(links.path(url)))).toThrow('not valid');
});
