import { expect, test } from 'vitest';
import { begin } from './begin.ts';

async function* numbers(count: number) {
  for (let value = 0; value < count; value++) yield value;
}

test('begin() throws the first error, yields all values, and closes a source that is not read', async () => {
  let isClosed = false;
  async function* source(fails: boolean) {
    try {
      if (fails) throw new Error('no first');
      yield* numbers(3);
    } finally {
      isClosed = true;
    }
  }
  await expect(begin(source(true))).rejects.toThrow('no first');
  expect(await Array.fromAsync(await begin(source(false)))).toEqual([0, 1, 2]);
  isClosed = false;
  await (await begin(source(false))).return();
  expect(isClosed).toBe(true);
});
