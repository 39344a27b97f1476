import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { limitConversion } from './files.ts';

const of = (userId: string) => ({ id: `job of ${userId}`, userId });

/** A conversion of three parts, each of which waits until `produce` is called. */
function conversion(userId: string) {
  const waiting: (() => void)[] = [];
  const state = { producing: 0, ended: false };
  async function* source() {
    try {
      for (let part = 0; part < 3; part++) {
        state.producing += 1;
        await new Promise<void>((resolve) => waiting.push(resolve));
        state.producing -= 1;
        yield new Uint8Array([part]);
      }
    } finally {
      state.ended = true;
    }
  }
  const reader = limitConversion(of(userId), source())[Symbol.asyncIterator]();
  return { state, reader, produce: () => waiting.shift()!() };
}

test('two parts are produced at a time, in turn for each user, and a paused reader holds up no other', async () => {
  const [first, second, third] = [conversion('a'), conversion('a'), conversion('b')];
  const reads = [first, second, third].map(({ reader }) => reader.next());
  await setImmediate();
  expect([first, second, third].map(({ state }) => state.producing)).toEqual([1, 1, 0]);
  first.produce();
  expect((await reads[0])!.value).toEqual(new Uint8Array([0]));
  // The first reader does not read on, but its part is produced.
  await setImmediate();
  expect(third.state.producing).toBe(1);
  second.produce();
  third.produce();
  await Promise.all(reads);
  await Promise.all([first, second, third].map(({ reader }) => reader.return!()));
  expect([first, second, third].map(({ state }) => state.ended)).toEqual([true, true, true]);
});

test('the conversions of a user, and of all users, are limited until one has ended', async () => {
  const begin = async (userId: string) => {
    async function* source() {
      for (;;) yield new Uint8Array(1);
    }
    const reader = limitConversion(of(userId), source())[Symbol.asyncIterator]();
    await reader.next();
    return reader;
  };
  const readers = [];
  for (let count = 0; count < 8; count++) readers.push(await begin('a'));
  await expect(begin('a')).rejects.toMatchObject({ code: 'rate_limited', retryAfterMs: 5_000 });
  await readers.pop()!.return!();
  readers.push(await begin('a'));
  for (let count = 0; count < 56; count++) readers.push(await begin(`user ${count % 7}`));
  await expect(begin('z')).rejects.toMatchObject({ code: 'rate_limited' });
  await Promise.all(readers.map((reader) => reader.return!()));
  await (await begin('z')).return!();
});

test('conversions that are requested at the same time count before the first bytes', async () => {
  async function* source() {
    yield new Uint8Array(1);
  }
  const requested = Array.from({ length: 20 }, () => limitConversion(of('a'), source()));
  const begun = await Promise.allSettled(requested.map((reader) => reader.next()));
  expect(begun.filter(({ status }) => status === 'fulfilled')).toHaveLength(8);
  await Promise.all(requested.map((reader) => reader.return()));
  expect((await limitConversion(of('a'), source()).next()).done).toBe(false);
});
