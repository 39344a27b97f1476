import { describe, expect, test } from 'vitest';
import { newId } from '../../base/id.ts';
import { collectionNames, declarations } from '../collections.ts';
import { readFields } from '../declaration.ts';
import type { Store } from '../store.ts';
import { anItem, anItemKey, anObservation, aRule, aRun, someValues } from './history-samples.ts';
import {
  aDelivery,
  aDestination,
  aTime,
  aUser,
  collectionOf,
  type Fields,
  sampleOf,
} from './samples.ts';
import { allPages, type OpenStores, runConcurrently, setUpStores } from './stores.ts';

/** The operations of declared collections, each on collections that declare what it needs. */
export function collectionConformance(open: OpenStores): void {
  describe('documents', () => documentConformance(open));
  describe('conditions', () => conditionConformance(open));
  describe('changes', () => changeConformance(open));
  describe('replacements', () => replacementConformance(open));
  describe('due documents', () => dueConformance(open));
  describe('lists', () => listConformance(open));
}

const withArrays = (document: Fields | null) =>
  document &&
  Object.fromEntries(
    Object.entries(document).map(([field, value]) => [
      field,
      value instanceof Uint8Array ? [...value] : value,
    ]),
  );

const pickFields = (document: Fields, fields: readonly string[]): Fields =>
  Object.fromEntries(fields.map((field) => [field, document[field]]));

const uniqueIndexes = collectionNames.flatMap((name) =>
  (declarations[name].indexes ?? []).flatMap(({ fields, unique }) =>
    unique ? [[name, fields as readonly string[]] as const] : [],
  ),
);
const replaced = collectionNames.filter((name) => declarations[name].upsert !== undefined);
const due = collectionNames.filter((name) => declarations[name].dueTime !== undefined);

function documentConformance(open: OpenStores): void {
  const stores = setUpStores(open);

  test.each(collectionNames)(
    '%s: a document is inserted once, and read as it was stored',
    async (name) => {
      const declaration = declarations[name];
      const fields = readFields(declaration);
      for (const [turn, isSet] of [true, false].entries()) {
        const document = sampleOf(name, turn, isSet);
        const id = declaration.id.map((field) => document[field] as string);
        const expected = withArrays(
          Object.fromEntries(fields.map((field) => [field, document[field]])),
        );
        expect(await collectionOf(stores.other, name).get(...id)).toBeNull();
        expect(await collectionOf(stores.store, name).insert(document)).toBe(true);
        expect(withArrays(await collectionOf(stores.other, name).get(...id))).toEqual(expected);
        const second = {
          ...sampleOf(name, turn + 2, isSet),
          ...pickFields(document, declaration.id),
        };
        expect(await collectionOf(stores.other, name).insert(second)).toBe(false);
        expect(withArrays(await collectionOf(stores.store, name).get(...id))).toEqual(expected);
        expect(
          await collectionOf(stores.store, name).remove(pickFields(document, declaration.id)),
        ).toBe(1);
        expect(await collectionOf(stores.other, name).get(...id)).toBeNull();
      }
    },
  );

  test.each(['cut \ud83d', '\ude00 rest', 'nul \0 x', '\u2028é́'])(
    'text that contains %j is stored well-formed, and found',
    async (text) => {
      const { store, other } = stores;
      const stored = text.toWellFormed();
      const variants = [{ id: text, name: text, price: null, stock: null }];
      const values = someValues({ title: text, variants });
      const item = anItem({ key: text, values });
      await store.trackedItems.upsert([item]);
      const expected = someValues({
        title: stored,
        variants: [{ ...variants[0]!, id: stored, name: stored }],
      });
      expect(await other.trackedItems.get(item.id)).toEqual({
        ...item,
        key: stored,
        values: expected,
      });
      const { userId } = item;
      for (const key of [text, { in: [text] }])
        expect(await other.trackedItems.find({ userId, key }, { order: [] })).toHaveLength(1);
      const observation = anObservation({ key: text, values });
      await store.observations.writeAll([observation]);
      const { market, region, at, jobId } = observation;
      const found = await other.observations.get(
        observation.userId,
        market,
        region,
        text,
        at,
        jobId,
      );
      expect(found).toEqual({ ...observation, key: stored, values: expected });
      const schedule: Fields = { ...sampleOf('schedules'), name: text, options: { track: text } };
      await collectionOf(store, 'schedules').insert(schedule);
      const read = await collectionOf(other, 'schedules').get(String(schedule.id));
      expect(read).toMatchObject({ name: stored, options: { track: stored } });
    },
  );

  test('one of concurrent inserts of a document succeeds', async () => {
    const user = aUser();
    const inserted = await runConcurrently(20, stores, (store) => store.users.insert(user));
    expect(inserted.filter(Boolean)).toHaveLength(1);
  });

  test.each(uniqueIndexes)(
    '%s: of documents with the same %j, one is stored',
    async (name, fields) => {
      const { id } = declarations[name];
      const shared = pickFields(sampleOf(name, 0), fields);
      const inserted = await runConcurrently(10, stores, (store, turn) =>
        collectionOf(store, name).insert({ ...sampleOf(name, turn), ...shared }),
      );
      expect(inserted.filter(Boolean)).toHaveLength(1);
      const other = sampleOf(name, 20);
      expect(await collectionOf(stores.other, name).insert(other)).toBe(true);
      const changed = await collectionOf(stores.store, name).update(pickFields(other, id), shared);
      expect(changed).toBeNull();
    },
  );

  test('writeAll() inserts missing documents, then changes those that match', async () => {
    const { store, other } = stores;
    const key = anItemKey();
    const all = Array.from({ length: 130 }, (_, at) => anObservation({ ...key, at: aTime + at }));
    const [first, ...rest] = all;
    await store.observations.insert(first!);
    await other.observations.writeAll(
      [{ ...first!, changed: [] }, ...rest],
      [
        [{ ...key, at: aTime + 1 }, { endedAt: 7 }],
        [{ ...key, at: aTime + 2, endedAt: 1 }, { endedAt: 8 }],
      ],
    );
    const read = await store.observations.find(key);
    expect(read).toEqual(all.map((each, at) => (at === 1 ? { ...each, endedAt: 7 } : each)));
    await store.observations.writeAll([]);
  });

  test('pick() reads fields that other reads leave out', async () => {
    const run = { ...aRun({ queueState: 'active' }), activeUser: newId() };
    const { activeUser, ...read } = run;
    await stores.store.trackingRuns.insert(run);
    expect(await stores.store.trackingRuns.get(run.jobId)).toEqual(read);
    expect(await stores.other.trackingRuns.find({ jobId: run.jobId })).toEqual([read]);
    const { trackingRuns } = stores.other;
    expect(await trackingRuns.pick({ jobId: run.jobId }, ['activeUser', 'at'])).toEqual({
      activeUser,
      at: run.at,
    });
    expect(await trackingRuns.pick({ jobId: newId() }, ['at'])).toBeNull();
    expect(await trackingRuns.insert({ ...aRun(), activeUser })).toBe(false);
    for (const _ of [1, 2])
      expect(await trackingRuns.insert({ ...aRun(), activeUser: null })).toBe(true);
  });
}

function conditionConformance(open: OpenStores): void {
  const stores = setUpStores(open);
  const userId = newId();
  const store = async () => {
    const times = [null, aTime, aTime + 1, aTime + 2.5];
    for (const [turn, endedAt] of times.entries())
      await stores.store.deliveries.insert(
        aDelivery({
          id: `d${turn}`,
          userId,
          endedAt,
          type: turn < 2 ? 'a' : 'b',
          createdAt: aTime + turn,
        }),
      );
    await stores.store.deliveries.insert(aDelivery({ endedAt: aTime + 1 }));
  };

  test('find() combines conditions, and null is outside of the order of times', async () => {
    await store();
    const found = async (where: object) =>
      (await stores.other.deliveries.find({ userId, ...where })).map(({ id }) => id).join(' ');
    expect(await found({})).toBe('d0 d1 d2 d3');
    expect(await found({ endedAt: undefined })).toBe('d0 d1 d2 d3');
    expect(await found({ endedAt: null })).toBe('d0');
    expect(await found({ endedAt: { not: null } })).toBe('d1 d2 d3');
    expect(await found({ endedAt: { not: aTime + 1 } })).toBe('d0 d1 d3');
    expect(await found({ endedAt: aTime + 2.5 })).toBe('d3');
    expect(await found({ endedAt: { above: aTime } })).toBe('d2 d3');
    expect(await found({ endedAt: { atLeast: aTime, below: aTime + 2 } })).toBe('d1 d2');
    expect(await found({ endedAt: { below: aTime + 1 } })).toBe('d1');
    expect(await found({ endedAt: { atMost: aTime + 1 } })).toBe('d1 d2');
    expect(await found({ id: { in: ['d3', 'd1', 'd1', 'x'] } })).toBe('d1 d3');
    expect(await found({ id: { in: [] } })).toBe('');
    expect(await found({ type: 'b', endedAt: { atMost: aTime + 1 } })).toBe('d2');
    expect(await found({ type: { is: 'a', above: '' } })).toBe('d0 d1');
  });

  test('find() orders, continues after a place, and limits', async () => {
    const { deliveries } = stores.other;
    const found = async (options: Parameters<typeof deliveries.find>[1]) =>
      (await deliveries.find({ userId }, options)).map(({ id }) => id).join(' ');
    expect(await found({ newestFirst: true })).toBe('d3 d2 d1 d0');
    expect(await found({ order: ['type', 'id'], newestFirst: true, limit: 3 })).toBe('d3 d2 d1');
    expect(await found({ order: ['type', 'id'], after: ['a', 'd1'] })).toBe('d2 d3');
    expect(await found({ after: [aTime + 1, 'd0'], limit: 2 })).toBe('d1 d2');
    expect(await found({ newestFirst: true, after: [aTime + 2, 'd2'] })).toBe('d1 d0');
    expect(await found({ limit: 0 })).toBe('');
    const pick = (skip: number) =>
      deliveries.pick({ userId }, ['id'], { order: ['createdAt'], newestFirst: true, skip });
    expect([await pick(0), await pick(3), await pick(4)]).toEqual([
      { id: 'd3' },
      { id: 'd0' },
      null,
    ]);
  });

  test('count() counts up to a maximum, and countBy() by the values of fields', async () => {
    const { deliveries } = stores.other;
    expect(await deliveries.count({ userId }, 100)).toBe(4);
    expect(await deliveries.count({ userId }, 3)).toBe(3);
    expect(await deliveries.count({ userId: newId() }, 3)).toBe(0);
    expect(await deliveries.countBy({ userId }, ['type', 'state'])).toEqual([
      { type: 'a', state: 'pending', count: 2 },
      { type: 'b', state: 'pending', count: 2 },
    ]);
    expect(await deliveries.countBy({ userId: newId() }, ['type'])).toEqual([]);
  });

  test('ranges of the parts of a compound id find the documents of their prefix only', async () => {
    const key = { userId: newId(), market: 'mkta', region: '', key: 'a/b c' };
    const all = [0, 10, 20].map((at) => anObservation({ ...key, at: aTime + at }));
    const others = [{ key: 'a' }, { key: 'a/b c/0' }, { userId: newId() }, { region: '0' }];
    await stores.store.observations.writeAll([
      ...all,
      ...others.map((change) => anObservation({ ...key, ...change })),
    ]);
    const found = (at: object) => stores.other.observations.find({ ...key, ...at });
    expect(await found({})).toEqual(all);
    expect(await found({ at: { atLeast: aTime + 10 } })).toEqual(all.slice(1));
    expect(await found({ at: { below: aTime + 10 } })).toEqual(all.slice(0, 1));
    expect(await found({ at: { atLeast: aTime + 10, below: aTime + 20 } })).toEqual(
      all.slice(1, 2),
    );
    expect(await found({ at: aTime + 10 })).toEqual(all.slice(1, 2));
  });

  test('search finds text in any of the fields, ignoring case, without wildcards', async () => {
    const user = { userId: newId(), series: '' };
    const items = ['Lamp', 'Ünique 100% (50% $^.*[x])', null].map((title, at) =>
      anItem({
        ...user,
        key: `key-${at}`,
        changedAt: aTime + at,
        values: { ...anItem().values, title },
      }),
    );
    await stores.store.trackedItems.upsert(items);
    const found = async (text: string) => {
      const search = { fields: ['key', 'values.title'], text };
      return (await stores.other.trackedItems.find(user, { search }))
        .map(({ key }) => key)
        .join(' ');
    };
    expect(await found('KEY-0')).toBe('key-0');
    expect(await found('ünIQUE 100%')).toBe('key-1');
    expect(await found('(50% $^.*[X])')).toBe('key-1');
    expect(await found('key')).toBe('key-0 key-1 key-2');
    for (const text of ['l.mp', 'lam%', '_amp', '.+', '$ne', 'unique'])
      expect(await found(text)).toBe('');
  });
}

function changeConformance(open: OpenStores): void {
  const stores = setUpStores(open);

  test('update() changes the document that the conditions identify, and returns it', async () => {
    const { rules } = stores.store;
    const rule = aRule();
    await rules.insert(rule);
    const changed = { ...rule, threshold: null, revision: 3 };
    const change = { threshold: null };
    expect(await rules.update({ id: rule.id, revision: 2 }, change)).toBeNull();
    expect(await rules.update({ id: newId() }, change)).toBeNull();
    expect(await stores.other.rules.get(rule.id)).toEqual(rule);
    expect(
      await rules.update({ id: rule.id, revision: 1 }, change, { add: { revision: 2 } }),
    ).toEqual(changed);
    expect(await stores.other.rules.get(rule.id)).toEqual(changed);
  });

  test('one of concurrent updates from the same state succeeds, and additions add up', async () => {
    const rule = aRule();
    await stores.store.rules.insert(rule);
    const names = await runConcurrently(8, stores, (store, turn) =>
      store.rules.update({ id: rule.id, name: rule.name }, { name: `${turn}` }),
    );
    expect(names.filter((each) => each !== null)).toHaveLength(1);
    await runConcurrently(20, stores, (store) =>
      store.rules.update({ id: rule.id }, {}, { add: { revision: 2 } }),
    );
    expect((await stores.store.rules.get(rule.id))?.revision).toBe(41);
  });

  test('update() and put() change nothing if a unique value exists', async () => {
    const { destinations } = stores.store;
    const userId = newId();
    const [one, two] = [
      aDestination({ userId, name: 'one' }),
      aDestination({ userId, name: 'two' }),
    ];
    for (const each of [one, two]) await destinations.insert(each);
    expect(await destinations.update({ id: two.id }, { name: 'one' })).toBeNull();
    expect(await destinations.put({ ...two, name: 'one', revision: 2 })).toBe(false);
    expect(await stores.other.destinations.find({ userId })).toEqual([one, two]);
  });

  test('put() stores a document whose revision follows the stored one', async () => {
    const record = (revision: number, state: string) => ({
      market: 'm',
      page: 'a/b',
      revision,
      state,
    });
    const { drift } = stores.store;
    expect(await drift.put(record(2, 'early'))).toBe(false);
    expect(await drift.get('m', 'a/b')).toBeNull();
    expect(await drift.put(record(1, 'first'))).toBe(true);
    expect(await stores.other.drift.put(record(1, 'again'))).toBe(false);
    expect(await drift.put(record(3, 'ahead'))).toBe(false);
    const written = await runConcurrently(12, stores, (store, turn) =>
      store.drift.put(record(2, String(turn))),
    );
    expect(written.filter(Boolean)).toHaveLength(1);
    expect(await drift.get('m', 'a/b')).toEqual(record(2, String(written.indexOf(true))));
  });

  test('put() replaces only the document of the same owner', async () => {
    const rule = aRule();
    await stores.store.rules.put(rule);
    const stolen = { ...rule, userId: newId(), revision: 2 };
    expect(await stores.other.rules.put(stolen)).toBe(false);
    expect(await stores.other.rules.put({ ...rule, name: 'Mine', revision: 2 })).toBe(true);
    expect(await stores.store.rules.get(rule.id)).toEqual({ ...rule, name: 'Mine', revision: 2 });
  });

  test('remove() deletes what matches, or a number of it', async () => {
    const { rules } = stores.store;
    const userId = newId();
    for (let count = 0; count < 5; count++) await rules.insert(aRule({ userId }));
    const kept = aRule();
    await rules.insert(kept);
    expect(await rules.remove({ userId: newId() })).toBe(0);
    expect(await rules.remove({ userId }, 2)).toBe(2);
    expect(await stores.other.rules.count({ userId }, 9)).toBe(3);
    expect(await rules.remove({ userId })).toBe(3);
    expect(await rules.remove({ userId }, 2)).toBe(0);
    expect(await stores.other.rules.get(kept.id)).toEqual(kept);
  });
}

function replacementConformance(open: OpenStores): void {
  const stores = setUpStores(open);

  test('upsert() replaces every document without a rule', async () => {
    const { webhooks } = stores.store;
    const webhook = sampleOf('webhooks') as never as Parameters<typeof webhooks.insert>[0];
    await webhooks.upsert([]);
    await webhooks.upsert([webhook]);
    await stores.other.webhooks.upsert([{ ...webhook, previousUntil: null, updatedAt: 1 }]);
    expect(await webhooks.get(webhook.userId)).toEqual({
      ...webhook,
      previousUntil: null,
      updatedAt: 1,
    });
  });

  test('upsert() leaves later documents, and keeps fields that are written once', async () => {
    const { store, other } = stores;
    const item = anItem({ revision: 2 });
    const rest = Array.from({ length: 130 }, () => anItem());
    await store.trackedItems.upsert([item, ...rest]);
    const ids = [item, ...rest].map(({ id }) => id);
    const read = await other.trackedItems.find({ id: { in: [...ids, newId()] } }, { order: [] });
    expect(new Map(read.map((each) => [each.id, each]))).toEqual(
      new Map([item, ...rest].map((each) => [each.id, each])),
    );
    const again = { ...item, foundBatch: 1, rules: {} };
    await store.trackedItems.upsert([again]);
    expect(await other.trackedItems.get(item.id)).toEqual(again);
    await store.trackedItems.upsert([{ ...item, revision: 1 }, anItem()]);
    expect(await other.trackedItems.get(item.id)).toEqual(again);
    const later = { ...item, revision: 3, isPresent: false, units: {} };
    await Promise.all([
      store.trackedItems.upsert([{ ...later, firstAt: 1 }]),
      other.trackedItems.upsert([{ ...again, foundBatch: 2 }]),
    ]);
    expect(await store.trackedItems.get(item.id)).toEqual(later);
  });

  test.each(replaced)(
    '%s: upsert() replaces a document by a later one, in any order of writes',
    async (name) => {
      const { id, upsert } = declarations[name];
      const [field = ''] = upsert!.versionedBy;
      const first = sampleOf(name);
      const key = id.map((each) => first[each] as string);
      const write = async (store: Store, by: number) => {
        const { insertOnly = [] } = upsert!;
        const version = {
          ...sampleOf(name),
          ...pickFields(first, [...id, ...insertOnly, ...upsert!.versionedBy]),
        };
        await collectionOf(store, name).upsert([
          { ...version, [field]: (first[field] as number) + by },
        ]);
        return withArrays({ ...version, [field]: (first[field] as number) + by });
      };
      const read = async () => withArrays(await collectionOf(stores.other, name).get(...key));
      await collectionOf(stores.store, name).upsert([first]);
      await write(stores.other, -1);
      expect(await read()).toEqual(withArrays(first));
      const equal = await write(stores.store, 0);
      expect(await read()).toEqual(upsert!.keepsEqual ? withArrays(first) : equal);
      const later = await write(stores.other, 1);
      expect(await read()).toEqual(later);
      await write(stores.store, 0);
      expect(await read()).toEqual(later);
    },
  );

  test('accumulate() adds the counters of every caller', async () => {
    const minute = { origin: 'https://a.$b', market: 'mkta', region: '', minute: aTime };
    const counts = { requests: 3, refused: 1, failed: 0, milliseconds: 0.5 };
    await runConcurrently(20, stores, (store) =>
      store.originMinutes.accumulate([
        { ...minute, ...counts },
        { ...minute, region: 'sg', ...counts },
      ]),
    );
    const total = { requests: 60, refused: 20, failed: 0, milliseconds: 10 };
    expect(await stores.store.originMinutes.find({ minute: { atLeast: aTime } })).toEqual([
      { ...minute, ...total },
      { ...minute, region: 'sg', ...total },
    ]);
  });
}

function dueConformance(open: OpenStores): void {
  const stores = setUpStores(open);

  test.each(due)(
    '%s: claimDue() gives a document to one caller, until its lease expires',
    async (name) => {
      const { dueTime: time = '', claimCounter, order, id } = declarations[name];
      const counted = (count: number) =>
        claimCounter === undefined ? {} : { [claimCounter]: count };
      const collection = collectionOf(stores.store, name);
      const now = aTime + 10;
      const store = async (turn: number, at: number | null) => {
        const document = {
          ...sampleOf(name, turn),
          [time]: at,
          ...counted(0),
          [order[0]]: aTime + turn,
        };
        await collection.insert(document);
        return document[id[0]!];
      };
      const ids: unknown[] = [];
      for (let turn = 0; turn < 5; turn++) ids.push(await store(turn, aTime + turn));
      const later = await store(5, now + 1);
      await store(6, null);
      const claims = await runConcurrently(6, stores, (each) =>
        collectionOf(each, name).claimDue(now, now + 100, 2),
      );
      // Callers that lost a document to another one may leave some to later calls.
      const claimed = [...claims.flat(), ...(await collection.claimDue(now, now + 100, 10))];
      expect(claimed.map((each) => each[id[0]!]).sort()).toEqual(ids.toSorted());
      for (const each of claimed) expect(each).toMatchObject({ ...counted(1), [time]: now + 100 });
      expect(await collection.claimDue(now, now + 100, 10)).toEqual([]);
      expect(await collection.claimDue(now + 100, now + 900, 0)).toEqual([]);
      const again = await collection.claimDue(now + 100, now + 900, 10);
      expect(again.map((each) => each[id[0]!])).toEqual([...ids, later]);
      for (const [turn, count] of [2, 2, 2, 2, 2, 1].entries())
        expect(again[turn]).toMatchObject(counted(count));
      expect(await collection.claimDue(now + 899, now + 999, 10)).toEqual([]);
    },
  );

  test('claimDue() prefers the longest due document, and returns them in the declared order', async () => {
    const { deliveries } = stores.store;
    const all = [3, 1, 2].map((turn) =>
      aDelivery({ nextAttemptAt: turn, createdAt: aTime - turn }),
    );
    for (const each of all) await deliveries.insert(each);
    const claimed = await deliveries.claimDue(10, 20, 2);
    expect(claimed.map(({ id }) => id)).toEqual([all[2]!.id, all[1]!.id]);
  });

  test('claimDue() claims documents that match other conditions', async () => {
    const { deliveries } = stores.store;
    const userId = newId();
    const all = ['a', 'b', 'b'].map((type, turn) =>
      aDelivery({ userId, type, nextAttemptAt: aTime + turn }),
    );
    for (const each of all) await deliveries.insert(each);
    const now = aTime + 9;
    const claim = async (where: object) =>
      (await deliveries.claimDue(now, now + 1, 1, { userId, ...where })).map(({ id }) => id);
    expect(await claim({ type: { in: ['b', 'c'] } })).toEqual([all[1]!.id]);
    expect(await claim({ type: 'b', id: { not: all[2]!.id } })).toEqual([]);
    expect(await claim({ type: { not: 'a' } })).toEqual([all[2]!.id]);
  });

  test('claimDue() fails for a collection without due documents', async () => {
    await expect(stores.store.rules.claimDue(1, 2, 3)).rejects.toThrow('no due documents');
  });
}

function listConformance(open: OpenStores): void {
  const stores = setUpStores(open);

  test('lists are read page after page, newest first, also with equal times', async () => {
    const userId = newId();
    const rules = [2, 3, 1, 3, 2].map((turn) => aRule({ userId, createdAt: aTime + turn + 0.5 }));
    for (const each of [...rules, aRule()]) await stores.store.rules.insert(each);
    const expected = rules.toSorted((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1));
    for (const limit of [1, 2, 4])
      expect(await allPages(limit, (page) => stores.other.rules.list({ userId }, page))).toEqual(
        expected,
      );
    const whole = await stores.other.rules.list({ userId }, { limit: 5 });
    expect(whole).toEqual({ items: expected, next: null });
    expect(await stores.other.rules.list({ userId: newId() }, { limit: 5 })).toEqual({
      items: [],
      next: null,
    });
  });

  test('lists combine pages, conditions, and a search', async () => {
    const name = `who is ${newId()}?`;
    const users = [2, 1, 3, 3].map((turn) => aUser({ name, createdAt: aTime + turn }));
    for (const each of [...users, aUser({ name, role: 'operator' })])
      await stores.store.users.insert(each);
    const search = { fields: ['email', 'name'], text: name.toUpperCase() };
    const listed = await allPages(2, (page) =>
      stores.other.users.list({ role: 'user' }, page, search),
    );
    expect(listed.map(({ createdAt }) => createdAt - aTime)).toEqual([3, 3, 2, 1]);
    expect(new Set(listed)).toEqual(new Set(users));
  });

  test('a page token that was not issued is rejected as invalid', async () => {
    const bad = { limit: 3, after: 'bm90IGEgdG9rZW4' };
    await expect(stores.store.rules.list({}, bad)).rejects.toMatchObject({ code: 'invalid' });
  });
}
