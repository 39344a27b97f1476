import { describe, expect, test } from 'vitest';
import { createManualClock } from '../../../test/support/time/clock.ts';
import { Fault } from '../../contract/fault.ts';
import { BrowserGroup } from './browser-group.ts';
import type { BrowserPool } from './pool.ts';

const scope = { market: 'mkta', region: 'sg', origin: 'https://shop.example' };

/** Pool of a browser that can be unreachable. */
class FakePool implements Pick<BrowserPool<string>, 'load' | 'start' | 'use'> {
  readonly #name: string;
  load = 0;
  starts = 0;
  isReachable = true;

  constructor(name: string) {
    this.#name = name;
  }

  async start(): Promise<void> {
    this.starts += 1;
    if (!this.isReachable) throw new Fault('browser_failed', `${this.#name} cannot be reached`);
  }

  use<Value>(_scope: unknown, task: (page: string) => Promise<Value>): Promise<Value> {
    return task(this.#name);
  }
}

describe('BrowserGroup', () => {
  const clock = createManualClock(0);
  const create = () => {
    const pools = [new FakePool('one'), new FakePool('two')] as const;
    const group = new BrowserGroup(pools as unknown as BrowserPool<string>[], clock);
    return { pools, open: () => group.use(scope, async (name) => name) };
  };

  test('opens each page in the browser with the fewest', async () => {
    const { pools, open } = create();
    pools[0].load = 2;
    pools[1].load = 1;
    expect(await open()).toBe('two');
    pools[1].load = 3;
    expect(await open()).toBe('one');
  });

  test('avoids a browser that cannot be reached for a while', async () => {
    const { pools, open } = create();
    pools[0].isReachable = false;
    pools[1].load = 5;
    expect([await open(), await open()]).toEqual(['two', 'two']);
    expect(pools[0].starts).toBe(1);
    pools[0].isReachable = true;
    await clock.advance(5_000);
    expect(await open()).toBe('one');
  });

  test('rejects with the fault if none can be reached, and tries them all again', async () => {
    const { pools, open } = create();
    for (const pool of pools) pool.isReachable = false;
    await expect(open()).rejects.toMatchObject({ code: 'browser_failed' });
    pools[1].isReachable = true;
    expect(await open()).toBe('two');
  });
});
