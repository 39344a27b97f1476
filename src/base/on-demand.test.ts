import { describe, expect, test } from 'vitest';
import { loadOnce, onDemand } from './on-demand.ts';

/** Creates a load that fails the first time. */
function failingOnce<Value>(value: Value) {
  const state = { loads: 0 };
  const load = async () => {
    state.loads += 1;
    if (state.loads === 1) throw new Error('no space left on device');
    return value;
  };
  return { load, state };
}

describe('loadOnce()', () => {
  test('loads a value once for all calls', async () => {
    let loads = 0;
    const get = loadOnce(async () => {
      loads += 1;
      return loads;
    });
    expect(await Promise.all([get(), get()])).toEqual([1, 1]);
    expect(await get()).toBe(1);
  });

  test('loads again after a failure', async () => {
    const { load, state } = failingOnce('value');
    const get = loadOnce(load);
    await expect(get()).rejects.toThrow('no space left');
    expect(await Promise.all([get(), get()])).toEqual(['value', 'value']);
    expect(state.loads).toBe(2);
  });
});

describe('onDemand()', () => {
  test('closes a value that was loaded, and nothing else', async () => {
    let closes = 0;
    const value = {
      close: async () => {
        closes += 1;
      },
    };
    const { load } = failingOnce(value);
    const get = onDemand(load);
    await get.close();
    await expect(get()).rejects.toThrow('no space left');
    await get.close();
    expect(closes).toBe(0);
    expect(await get()).toBe(value);
    await get.close();
    expect(closes).toBe(1);
  });
});
