import { expect, test } from 'vitest';
import { createPublicContent, keepContent } from './public-content.ts';

test('keepContent() builds once per key, and again after a failure', async () => {
  let key = 'one';
  let builds = 0;
  let isBroken = true;
  const content = keepContent(
    () => key,
    async () => {
      builds += 1;
      if (isBroken) throw new Error('broken');
      return createPublicContent('text/plain', key);
    },
  );
  await expect(content()).rejects.toThrow('broken');
  isBroken = false;
  const [first, second] = await Promise.all([content(), content()]);
  expect(second).toBe(first);
  expect(builds).toBe(2);
  key = 'two';
  expect((await content()).bytes.toString()).toBe('two');
  expect(builds).toBe(3);
});

test('createPublicContent() encodes once', async () => {
  const content = createPublicContent('text/plain', 'x'.repeat(5_000));
  expect(await content.encoded('br')).toBe(await content.encoded('br'));
  expect(await content.encoded('gzip')).not.toEqual(await content.encoded('br'));
});
