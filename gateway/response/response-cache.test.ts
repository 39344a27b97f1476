import { create } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { handClock, packingRetention } from '../fixture/gateway.ts';
import { shopMessage } from '../fixture/shop.ts';
import { createResponseCache } from './response-cache.ts';

const schema = shopMessage('Parcel');

type Request = Parameters<ReturnType<ReturnType<typeof createResponseCache>['of']>>[0];

describe('createResponseCache()', () => {
  test('evicts the least recently used responses above 64 MB', async () => {
    const responders = createResponseCache(packingRetention, handClock()).of(schema);
    let made = 0;
    const make = async () => {
      made += 1;
      return { message: create(schema), tag: undefined };
    };
    const ask = (user: number) =>
      responders({
        key: `user-${user} /path`,
        waits: false,
        make,
        write: () => 'x'.repeat(60_000),
      });
    for (let user = 0; user < 1_000; user += 1) await ask(user);
    expect(made).toBe(1_000);
    await ask(999);
    expect(made).toBe(1_000);
    await ask(0);
    expect(made).toBe(1_001);
  });

  test('counts the size of keys', async () => {
    const responders = createResponseCache(packingRetention, handClock()).of(schema);
    let made = 0;
    const make = async () => {
      made += 1;
      return { message: create(schema), tag: undefined };
    };
    const ask = (call: number) =>
      responders({
        key: `${call} ${'k'.repeat(100_000)}`,
        waits: false,
        make,
        write: () => '{}',
      });
    for (let call = 0; call < 500; call += 1) await ask(call);
    await ask(0);
    expect(made).toBe(501);
  });

  describe('a cached response', () => {
    const clock = handClock();
    const write = (message: object) => JSON.stringify(message, ['status']);
    /** Creates a cache. Returns a function that requests a key from it, by default without a wait. */
    const responders = () => {
      const respond = createResponseCache(packingRetention, clock).of(schema);
      return (make: Request['make'], request: Partial<Request> = {}) =>
        respond({ key: 'key', waits: false, write, ...request, make });
    };
    /** Calls whose parcel takes the states in order and stays in the last one. */
    const maker = (...states: Record<string, unknown>[]) => {
      let made = 0;
      const make = async () => {
        const message = create(schema, states[Math.min(made, states.length - 1)]!);
        made += 1;
        return { message, tag: `W/"${made}"` };
      };
      return { make, count: () => made };
    };
    const running = { status: 'packing' };
    const over = { status: 'delivered', labelUrl: 'https://x' };

    test.each([
      ['a parcel in the works', running, 120],
      ['a delivered parcel', over, 86_400],
      ['a delivered parcel whose label is not there yet', { status: 'delivered' }, 120],
      ['a parcel in the works that has a label already', { ...over, ...running }, 120],
    ])(
      'keeps a response of %s with its tag for the configured time',
      async (_which, state, seconds) => {
        const { make, count } = maker(state);
        const ask = responders();
        const kept = { text: write(state), tag: 'W/"1"' };
        expect(await ask(make)).toEqual({ ...kept, maxAgeSeconds: seconds });
        clock.move(seconds * 1000 - 1);
        expect(await ask(make)).toEqual({ ...kept, maxAgeSeconds: 0 });
        expect(count()).toBe(1);
        clock.move(1);
        expect(await ask(make)).toMatchObject({
          tag: 'W/"2"',
          maxAgeSeconds: seconds,
        });
      },
    );

    test('has a max-age rounded down to seconds', async () => {
      const { make } = maker(running);
      const ask = responders();
      await ask(make);
      clock.move(1);
      expect(await ask(make)).toMatchObject({ maxAgeSeconds: 119 });
    });

    test('is not kept above 64 KB', async () => {
      const { make, count } = maker(over);
      const ask = responders();
      for (let call = 0; call < 2; call += 1)
        await ask(make, { key: 'short', write: () => 'x'.repeat(65_536) });
      expect(count()).toBe(1);
      for (let call = 0; call < 2; call += 1)
        await ask(make, { key: 'long', write: () => 'x'.repeat(65_537) });
      expect(count()).toBe(3);
    });

    test('is replaced by the response to a caller that waits for a change', async () => {
      const { make, count } = maker(running, over);
      const ask = responders();
      await ask(make);
      expect(await ask(make, { waits: true })).toMatchObject({ text: write(over) });
      expect(await ask(make, { waits: true })).toMatchObject({ text: write(over) });
      expect(await ask(make)).toMatchObject({ text: write(over) });
      expect(count()).toBe(2);
    });

    test('is dropped when its replacement fails', async () => {
      const { make, count } = maker(running);
      const ask = responders();
      await ask(make);
      const failing = async () => {
        throw new Error('gone');
      };
      await expect(ask(failing, { waits: true })).rejects.toThrow('gone');
      await ask(make);
      expect(count()).toBe(2);
    });
  });
});
