import { expect, test } from 'vitest';
import { begin, prefetch } from './prefetch.ts';

async function* numbers(count: number) {
  for (let value = 0; value < count; value++) yield value;
}

test('yields the mapped values in order', async () => {
  for (const count of [0, 1, 2, 10])
    expect(await Array.fromAsync(prefetch(numbers(count), 3, async (value) => 2 * value))).toEqual(
      Array.from({ length: count }, (_, value) => 2 * value),
    );
});

test('maps further ahead the more was consumed, up to the maximum', async () => {
  let started = 0;
  const ahead: number[] = [];
  let taken = 0;
  const mapped = prefetch(numbers(9), 3, async (value) => {
    started += 1;
    return value;
  });
  for await (const _ of mapped) {
    taken += 1;
    ahead.push(started - taken);
  }
  expect(ahead).toEqual([0, 1, 2, 3, 3, 3, 2, 1, 0]);
});

test('throws the first rejection in order, after the values before it', async () => {
  const seen: number[] = [];
  const consume = async () => {
    const mapped = prefetch(numbers(9), 3, async (value) => {
      if (value === 4 || value === 5) throw new Error(`no ${value}`);
      return value;
    });
    for await (const value of mapped) seen.push(value);
  };
  await expect(consume()).rejects.toThrow('no 4');
  expect(seen).toEqual([0, 1, 2, 3]);
});

test('stops reading its source when the consumer stops, and ignores what fails after that', async () => {
  let isClosed = false;
  async function* source() {
    try {
      yield* numbers(100);
    } finally {
      isClosed = true;
    }
  }
  for await (const value of prefetch(source(), 3, async (value) => {
    if (value > 2) throw new Error('too late');
    return value;
  }))
    if (value === 2) break;
  expect(isClosed).toBe(true);
});

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
