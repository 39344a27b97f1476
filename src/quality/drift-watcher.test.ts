import { beforeEach, describe, expect, test } from 'vitest';
import type { Log } from '../base/log.ts';
import { Fault } from '../contract/fault.ts';
import { openSqliteStore } from '../store/sqlite/open.ts';
import type { Store } from '../store/store.ts';
import { replaceMethods } from '../store/wrap.ts';
import { acceptDrift, listFieldDrift } from './alarms.ts';
import { createDriftWatcher, type DriftWatcher, wholePage } from './drift-watcher.ts';
import type { RecordFields } from './record-schema.ts';

const listedFields: Record<string, Record<string, RecordFields>> = {
  mktx: { product: { title: 'string', 'tags[].name': 'string?' }, search: { id: 'string' } },
};
const whole = { title: 'Lamp', tags: [{ name: 'x' }] };
const unit = { region: 'sg', input: { id: '7' } };

let now: number;
let store: Store;
let logged: string[];
const clock = { now: () => now, steady: () => now, sleep: async () => {} };
const log = { warn: (_details: object, words: string) => logged.push(words) } as unknown as Log;
const watch = () => createDriftWatcher({ store, clock, log, listedFields });

/** Watches `count` pages, one per second. */
async function see(
  one: DriftWatcher,
  pages: number,
  record: object,
  page = 'product',
): Promise<void> {
  for (let at = 0; at < pages; at++) {
    now += 1_000;
    one.look('mktx', page, [record], unit);
    if (at % 20 === 19) await one.flush();
  }
  await one.flush();
}

const shareOf = async (field: string) =>
  (await listFieldDrift(store, true)).find((each) => each.field === field);

beforeEach(() => {
  now = 1_000_000;
  store = openSqliteStore({ path: ':memory:' });
  logged = [];
  return () => store.close();
});

describe('an alarm', () => {
  test('is listed and logged when a field goes missing, and logged when it returns', async () => {
    const one = watch();
    await see(one, 300, whole);
    expect(await listFieldDrift(store, false)).toEqual([]);
    await see(one, 300, { ...whole, title: 17 });
    const [alarm, ...others] = await listFieldDrift(store, false);
    expect(others).toEqual([]);
    expect(alarm).toMatchObject({
      market: 'mktx',
      page: 'product',
      field: 'title',
      absent: 1,
      baseline: 0,
    });
    expect(alarm?.example).toEqual(unit);
    expect(alarm?.since).toBeGreaterThan(1_300_000);
    expect(logged).toHaveLength(1);
    expect(logged[0]).toBe('drift alarm started');
    await see(one, 300, whole);
    expect(await listFieldDrift(store, false)).toEqual([]);
    expect(logged).toHaveLength(2);
    expect(logged[1]).toBe('drift alarm ended');
  });

  test('is one of a declared site, whose pages are watched apart', async () => {
    const one = watch();
    for (const name of ['kiln', 'oak']) await see(one, 300, whole, `product/${name}`);
    await see(one, 300, { ...whole, title: null }, 'product/kiln');
    const [alarm, ...others] = await listFieldDrift(store, false);
    expect([alarm?.page, alarm?.field, others]).toEqual(['product/kiln', 'title', []]);
    expect(await acceptDrift(store, 'mktx', 'product/kiln', '')).toEqual(['title']);
    await see(one, 60, whole, 'nothing/kiln');
    expect((await listFieldDrift(store, true)).some(({ page }) => page === 'nothing/kiln')).toBe(
      false,
    );
  });

  test('begins once across workers', async () => {
    const workers = [watch(), watch(), watch()];
    for (const record of [whole, { tags: [] }]) {
      for (let turn = 0; turn < 20; turn++)
        await Promise.all(workers.map((one) => see(one, 10, record)));
    }
    expect(logged).toHaveLength(1);
    expect((await listFieldDrift(store, false)).map(({ field }) => field)).toEqual(['title']);
    // Concurrent writes lose no page.
    expect((await shareOf(wholePage))!.pages).toBeGreaterThanOrEqual(200);
  });

  test('ends when an operator accepts it', async () => {
    const one = watch();
    await see(one, 300, whole);
    await see(one, 300, {});
    expect(await acceptDrift(store, 'mktx', 'product', 'tags[].name')).toEqual([]);
    expect(await acceptDrift(store, 'mktx', 'search', '')).toEqual([]);
    expect(await acceptDrift(store, 'mktx', 'product', '')).toEqual(['title']);
    await see(one, 300, {});
    expect(await listFieldDrift(store, false)).toEqual([]);
  });

  test('begins when pages become unreadable', async () => {
    const one = watch();
    await see(one, 300, whole);
    for (let at = 0; at < 200; at++) {
      now += 1_000;
      one.watchUnreadable('mktx', 'product', unit);
    }
    await one.flush();
    expect((await listFieldDrift(store, false)).map(({ field }) => field)).toEqual([wholePage]);
  });
});

describe('sampling', () => {
  test('counts a field without a place as neither present nor absent', async () => {
    const one = watch();
    await see(one, 60, { title: 'Lamp', tags: [] });
    expect(await shareOf('tags[].name')).toBeUndefined();
    expect(await shareOf('title')).toMatchObject({ baseline: 0 });
  });

  test('counts a field as absent on a listing page when most entries lack it', async () => {
    const one = watch();
    one.look('mktx', 'search', [{ id: 'a' }, { id: null }, {}, { id: 3 }], unit);
    one.look('mktx', 'search', [{ id: 'a' }, { id: 'b' }, {}], unit);
    one.look('mktx', 'search', [], unit);
    await one.flush();
    expect(await shareOf('id')).toMatchObject({ pages: 2, absent: 0.5 });
  });

  test('allows a burst of 50 pages, then 4 per second', async () => {
    const one = watch();
    for (let at = 0; at < 1_000; at++) one.look('mktx', 'product', [whole], unit);
    now += 2_000;
    for (let at = 0; at < 1_000; at++) one.look('mktx', 'product', [whole], unit);
    const written = await spied(one);
    expect(written).toBe(58);
  });

  test('ignores pages without listed fields', async () => {
    const one = watch();
    one.look('mktx', 'merchant', [whole], unit);
    one.look('mkty', 'product', [whole], unit);
    one.watchUnreadable('mkty', 'product', unit);
    await one.flush();
    expect(await store.drift.find({})).toEqual([]);
  });
});

test('stores counts later when the store was unavailable', async () => {
  let away = true;
  const put: Store['drift']['put'] = async (record) => {
    if (away) throw new Fault('unavailable', 'away');
    return store.drift.put(record);
  };
  const shaky = replaceMethods(store, { drift: { put } });
  const one = createDriftWatcher({ store: shaky, clock, log, listedFields });
  one.look('mktx', 'search', [{ id: 'a' }], unit);
  await expect(one.flush()).rejects.toMatchObject({ code: 'unavailable' });
  one.look('mktx', 'search', [{}], unit);
  away = false;
  await one.flush();
  expect(await shareOf('id')).toMatchObject({ pages: 2, absent: 0.5, example: unit });
});

/** Returns the number of pages that the next flush writes. */
async function spied(one: DriftWatcher): Promise<number> {
  await one.flush();
  const [record] = await store.drift.find({});
  const { recent, earlier } = JSON.parse(record!.state)[wholePage];
  return recent.reduce((sum: number, [pages]: [number]) => sum + pages, earlier[0]);
}
