import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { beforeEach, describe, expect, test } from 'vitest';
import { HistoryService } from '../../../gen/gleaner/history/v1/history_pb.ts';
import { type JobFixture, openJobFixture } from '../../../test/support/jobs/jobs.ts';
import { openTracking, type Tracking } from '../../../test/support/jobs/tracking.ts';
import { type CoreCaller, openCore, type TestCore } from '../../../test/support/rpc/core.ts';
import { warningHeader } from '../../contract/response-headers.ts';
import { maxRules } from '../../history/rules.ts';
import {
  anItem,
  anObservation,
  aRule,
  aWebhook,
  someValues,
} from '../../store/conformance/history-samples.ts';
import { addObservations } from '../../store/history.ts';
import { trackedItemId } from '../../store/history-ids.ts';

const { method } = HistoryService;
const [lamp, chair] = ['30000000001', '30000000002'] as const;

let fixture: JobFixture;
let core: TestCore;
let tracking: Tracking;
let userId: string;
let user: CoreCaller;
let other: CoreCaller;
beforeEach(async () => {
  fixture = await openJobFixture();
  await fixture.startWorker();
  core = await openCore(fixture.context);
  tracking = openTracking(fixture);
  userId = await fixture.createUser(100_000);
  user = (await core.createKey(userId)).caller;
  other = (await core.createKey(await fixture.createUser(0))).caller;
  return () => fixture.close();
});

const place = { market: 'mkta', region: 'id', key: lamp };

describe('getHistory', () => {
  test('returns the observations of an item, its latest values, and pages', async () => {
    for (const priceFactor of [1, 0.9, 0.8, 0.8]) {
      tracking.changeItem(lamp, { priceFactor });
      await tracking.run(userId, [lamp]);
    }
    const whole = await user.call(method.getHistory, place);
    expect(whole.observations).toHaveLength(3);
    const [latest, second, first] = whole.observations;
    expect(latest!.values!.price! / first!.values!.price!).toBeCloseTo(0.8);
    expect(latest!.endedAt).toBeUndefined();
    expect(second!.endedAt).toEqual(latest!.observedAt);
    expect(whole.item).toMatchObject({ ...place, present: true, changedAt: latest!.observedAt });
    expect(whole.item!.values).toEqual(latest!.values);

    const page = await user.call(method.getHistory, { ...place, pageSize: 2 });
    expect(page.observations).toEqual([latest, second]);
    const next = await user.call(method.getHistory, { ...place, pageToken: page.nextPageToken });
    expect(next).toMatchObject({ observations: [first], nextPageToken: '' });
    const { observedAt: from } = second!;
    const { observedAt: to } = latest!;
    expect((await user.call(method.getHistory, { ...place, from, to })).observations).toEqual([
      second,
    ]);
  });

  test('returns only the requested values, and observations in which one of them changed', async () => {
    await tracking.run(userId, [lamp]);
    for (const change of [
      { title: 'B' },
      { title: 'B', priceFactor: 0.5 },
      { title: 'C', priceFactor: 0.5 },
    ]) {
      tracking.changeItem(lamp, change);
      await tracking.run(userId, [lamp]);
    }
    const { observations } = await user.call(method.getHistory, {
      ...place,
      fields: ['title'],
      pageSize: 2,
    });
    expect(observations.map(({ values }) => [values!.title, values!.price])).toEqual([
      ['C', undefined],
      ['B', undefined],
    ]);
    expect(observations[0]!.values!.variants).toEqual([]);
    await expect(
      user.call(method.getHistory, { ...place, fields: ['colour'] }),
    ).rejects.toMatchObject({
      code: 'invalid',
      problems: [{ loc: ['query', 'fields', 0] }],
    });
  });

  test('returns the observation that held at the start of a period, and the ends of fields', async () => {
    const changes = [{}, { title: 'B' }, { title: 'C' }, { title: 'C', priceFactor: 0.5 }];
    for (const change of changes) {
      tracking.changeItem(lamp, change);
      await tracking.run(userId, [lamp]);
    }
    const call = async (request: object) =>
      (await user.call(method.getHistory, { ...place, ...request })).observations;
    const [cheap, titleC, titleB, first] = await call({});
    const between = timestampFromMs(timestampMs(titleC!.observedAt!) + 1);
    expect(await call({ from: between })).toEqual([cheap, titleC]);
    expect(await call({ from: between, to: cheap!.observedAt })).toEqual([titleC]);
    expect(await call({ from: titleB!.observedAt, to: titleC!.observedAt })).toEqual([titleB]);
    const [, firstPrice, ...others] = await call({ from: between, fields: ['price'] });
    expect(others).toEqual([]);
    expect(firstPrice).toMatchObject({ observedAt: first!.observedAt, endedAt: cheap!.observedAt });
    const { title, price, currency } = first!.values!;
    expect([typeof title, typeof currency]).toEqual(['string', 'string']);
    expect(firstPrice!.values).toMatchObject({ price, currency });
    expect(firstPrice!.values!.title).toBeUndefined();
    const [titleOnly] = await call({ fields: ['title'], to: titleC!.observedAt });
    expect(titleOnly).toMatchObject({
      observedAt: titleB!.observedAt,
      endedAt: titleC!.observedAt,
    });
  });

  test('ends a price with the observation of another currency', async () => {
    const { store } = fixture.context;
    const item = { ...place, userId };
    await store.trackedItems.upsert([anItem({ ...item, series: '', id: trackedItemId(item, '') })]);
    const observe = (at: number, currency: string, changed: readonly ('price' | 'currency')[]) => {
      const values = someValues({ price: 20, currency });
      return { observation: anObservation({ ...item, at, changed, values }), previous: null };
    };
    await addObservations(store, [
      observe(1_000, 'USD', ['price', 'currency']),
      observe(2_000, 'EUR', ['currency']),
    ]);
    const { observations } = await user.call(method.getHistory, { ...place, fields: ['price'] });
    expect(observations.map(({ values, endedAt }) => [values!.currency, endedAt])).toEqual([
      ['EUR', undefined],
      ['USD', timestampFromMs(2_000)],
    ]);
  });

  test('names the stores that have an item with the id', async () => {
    const { trackedItems } = fixture.context.store;
    const item = { userId, market: 'mktf', key: '7', series: '' };
    const states = ['a.example', 'b.example'].map((region) => {
      const key = { ...item, region };
      return anItem({ ...key, id: trackedItemId(key, '') });
    });
    const request = { market: 'mktf', region: '-', key: '7' };
    await trackedItems.upsert(states.slice(0, 1));
    const { item: only } = await user.call(method.getHistory, request);
    expect(only).toMatchObject({ region: '-', store: 'a.example', key: '7' });
    await trackedItems.upsert(states.slice(1));
    const several = { code: 'invalid', message: expect.stringContaining('a.example, b.example') };
    await expect(user.call(method.getHistory, request)).rejects.toMatchObject(several);
    const { item: named } = await user.call(method.getHistory, { ...request, store: 'b.example' });
    expect(named).toMatchObject({ store: 'b.example' });
    const listed = await user.call(method.listTrackedItems, { region: '-' });
    expect(listed.items.map(({ store }) => store).sort()).toEqual(['a.example', 'b.example']);
  });

  test('returns 404 for an unknown item and for one of another user', async () => {
    await tracking.run(userId, [lamp]);
    for (const call of [
      other.call(method.getHistory, place),
      user.call(method.getHistory, { ...place, key: '1' }),
    ])
      await expect(call).rejects.toMatchObject({ code: 'not_found' });
  });
});

test('listTrackedItems filters the items of the caller', async () => {
  await tracking.run(userId, [lamp, chair], 'daily');
  tracking.changeItem(lamp, { isRemoved: true });
  await tracking.run(userId, [lamp, chair], 'daily');
  const list = (request: object) => user.call(method.listTrackedItems, request);
  const keysOf = async (request: object) =>
    (await list(request)).items.map(({ key }) => key).sort();
  expect(await keysOf({})).toEqual([lamp, chair].sort());
  expect(await keysOf({ market: 'mktb' })).toEqual([]);
  expect(await keysOf({ region: '-' })).toEqual([]);
  expect(await keysOf({ search: '0002' })).toEqual([chair]);
  const inSeries = (await list({ series: 'daily' })).items;
  expect(inSeries.map(({ key, present }) => [key, present]).sort()).toEqual([
    [lamp, false],
    [chair, true],
  ]);
  expect((await other.call(method.listTrackedItems, {})).items).toEqual([]);
});

describe('changes of a job', () => {
  test('are listed by type, with counts, and streamed in every format', async () => {
    await tracking.run(userId, [lamp, chair], 'daily');
    tracking.changeItem(lamp, { title: '=cmd', stock: 0 });
    tracking.changeItem(chair, { isRemoved: true });
    const { jobId } = await tracking.run(userId, [lamp, chair], 'daily');
    const all = await user.call(method.listChanges, { jobId });
    expect(all).toMatchObject({ jobId, series: 'daily', status: 'done', nextPageToken: '' });
    expect(all.counts).toMatchObject({ new: 0, changed: 1, missing: 1, back: 0, unchanged: 0 });
    const [changed] = (await user.call(method.listChanges, { jobId, type: 'changed' })).changes;
    expect(changed).toMatchObject({ ...place, type: 'changed', title: '=cmd' });
    expect(changed!.fields.find(({ field }) => field === 'available')).toMatchObject({
      before: 'true',
      after: 'false',
    });
    const file = async (format: string) => {
      const parts = await user.stream(method.streamChanges, { jobId, format });
      const bytes = Buffer.concat(parts.map(({ data }) => data));
      return { type: parts[0]!.contentType, text: bytes.toString(), bytes };
    };
    const lines = (await file('')).text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.find(({ type }) => type === 'changed')).toMatchObject({
      ...place,
      after: { title: '=cmd' },
    });
    expect(lines.find(({ type }) => type === 'missing')).toMatchObject({
      key: chair,
      before: {},
      after: {},
    });
    expect(JSON.parse((await file('json')).text)).toEqual(lines);
    const csv = await file('csv');
    expect(csv.type).toMatch('text/csv');
    expect(csv.text).toContain("'=cmd");
    expect((await file('parquet')).bytes.subarray(0, 4).toString()).toBe('PAR1');
  });

  test('are pending until the comparison, which the download waits for', async () => {
    const job = await tracking.end(userId, [lamp]);
    const request = { jobId: job.id };
    expect(await user.call(method.listChanges, request)).toMatchObject({
      status: 'pending',
      changes: [],
    });
    const download = user.stream(method.streamChanges, request);
    await expect(download).rejects.toMatchObject({ code: 'conflict' });
  });

  test('are not_found for jobs of other users and for jobs without tracking', async () => {
    const { jobId } = await tracking.run(userId, [lamp]);
    const plain = await tracking.end(userId, [lamp], 'false');
    const calls = [
      other.call(method.listChanges, { jobId }),
      user.call(method.listChanges, { jobId: plain.id }),
    ];
    for (const call of calls) await expect(call).rejects.toMatchObject({ code: 'not_found' });
  });
});

test('readChangeFeed returns the changes of the caller, with cursors of the feed', async () => {
  const { jobId } = await tracking.run(userId, [lamp, chair], 'daily');
  const feed = await user.call(method.readChangeFeed, {});
  expect(feed).toMatchObject({ hasMore: false, changes: [{ jobId }, { jobId }] });
  expect((await user.call(method.listChanges, { jobId })).changes).toEqual(feed.changes);
  const [first, second] = feed.changes;
  const rest = await user.call(method.readChangeFeed, { after: first!.cursor, limit: 1 });
  expect(rest).toMatchObject({ changes: [second], hasMore: false });
  expect((await other.call(method.readChangeFeed, {})).changes).toEqual([]);
});

test('readChangeFeed names the member of a response that is its cursor', async () => {
  await expect(user.call(method.readChangeFeed, { after: 'abc' })).rejects.toMatchObject({
    problems: [{ loc: ['query', 'after'], msg: expect.stringContaining('next_cursor') }],
  });
});

test('readChangeFeed refuses a marketplace that does not exist', async () => {
  const call = user.call(method.readChangeFeed, { market: 'mktx' });
  await expect(call).rejects.toMatchObject({ code: 'invalid' });
});

describe('rules', () => {
  const fields = {
    name: 'Cheaper',
    condition: 'price_falls_by',
    threshold: 5,
    market: 'mktf',
    region: '-',
  };

  const mail = {
    smtp: { host: 'localhost', port: 25, tls: 'off' as const, login: null },
    from: 'gleaner@example.test',
    to: [],
  };

  test('are created, changed, listed, and deleted by their user', async () => {
    const rule = await user.call(method.createRule, fields);
    expect(rule).toMatchObject({ ...fields, region: '', channel: 'webhook', enabled: true });
    const { ruleId } = rule;
    expect(await user.call(method.getRule, { ruleId })).toEqual(rule);
    const change = {
      ruleId,
      condition: 'changes',
      field: 'title',
      channel: 'email',
      disabled: true,
    };
    const changed = await user.call(method.updateRule, change);
    expect(changed).toMatchObject({
      ruleId,
      name: '',
      condition: 'changes',
      field: 'title',
      enabled: false,
    });
    expect(changed.threshold).toBeUndefined();
    expect((await user.call(method.listRules, {})).rules).toEqual([changed]);
    expect((await other.call(method.listRules, {})).rules).toEqual([]);
    for (const call of [
      other.call(method.getRule, { ruleId }),
      other.call(method.updateRule, { ...fields, ruleId }),
      other.call(method.deleteRule, { ruleId }),
    ])
      await expect(call).rejects.toMatchObject({ code: 'not_found' });
    await user.call(method.deleteRule, { ruleId });
    expect((await user.call(method.listRules, {})).rules).toEqual([]);
  });

  test.each([
    [{ condition: 'price_below' }, 'threshold', /Field required/],
    [{ condition: 'price_below', threshold: -1 }, 'threshold', /greater than 0/],
    [{ condition: 'price_falls_by', threshold: 101 }, 'threshold', /cannot fall by 101/],
    [{ condition: 'out_of_stock', threshold: 1 }, 'threshold', /has no threshold/],
    [{ condition: 'changes' }, 'field', /Field required/],
    [{ condition: 'out_of_stock', field: 'price' }, 'field', /has no field/],
    [{ condition: 'cheap' }, 'condition', /./],
    [{ condition: 'changes', field: 'cost' }, 'field', /^Input should be 'title', 'price', /],
    [{ ...fields, market: 'Amazon' }, 'market', /^"Amazon" is not a marketplace .* mean mkte\?$/],
    [{ ...fields, market: 'mkte1', region: '' }, 'market', /Did you mean mkte\?$/],
    [
      { ...fields, market: 'mkte', region: 'id' },
      'region',
      /^"id" is not a region of mkte \(sg, jp, .*\)/,
    ],
    [{ ...fields, market: '', region: 'xx' }, 'region', /^"xx" is not a region \(id, /],
    [{ ...fields, region: 'sg' }, 'region', /^Marketplace mktf has no regions/],
    [{ ...fields, series: 'true' }, 'series', /^No series is named "true"/],
    [{ ...fields, series: 'my shop' }, 'series', /such as weekly-prices, not "my shop"$/],
    [{ ...fields, channel: 'email' }, 'channel', /^This service sends no email/],
    [{ ...fields, key: 'https://shop.example/p/1' }, 'key', /not an address$/],
  ])('rejects %j and names the field', async (request, name, message) => {
    await expect(user.call(method.createRule, request)).rejects.toMatchObject({
      code: 'invalid',
      problems: [{ loc: ['body', name], msg: expect.stringMatching(message) }],
    });
  });

  test('are in use unless a request says otherwise, in either of two fields', async () => {
    const create = (fields: { enabled?: boolean; disabled?: boolean }) =>
      user.call(method.createRule, { condition: 'out_of_stock', ...fields });
    expect((await create({})).enabled).toBe(true);
    expect((await create({ enabled: true })).enabled).toBe(true);
    const rule = await create({ enabled: false });
    expect(rule.enabled).toBe(false);
    expect((await create({ disabled: true })).enabled).toBe(false);
    expect((await create({ enabled: false, disabled: true })).enabled).toBe(false);
    await expect(create({ enabled: true, disabled: true })).rejects.toMatchObject({
      problems: [{ loc: ['body', 'enabled'] }],
    });
    const { $typeName: _, ...fields } = { ...rule, name: 'Sold out' };
    expect(await user.call(method.updateRule, fields)).toMatchObject({
      ...fields,
      updatedAt: expect.anything(),
    });
  });

  test('send email only to accounts with an address', async () => {
    fixture.context.settings.notices.email = mail;
    const request = { ...fields, channel: 'email' };
    await expect(user.call(method.createRule, request)).rejects.toMatchObject({
      code: 'invalid',
      problems: [{ loc: ['body', 'channel'], msg: expect.stringMatching(/has no email address/) }],
    });
    expect(await user.call(method.createRule, { ...request, disabled: true })).toMatchObject({
      channel: 'email',
    });
  });

  test('warn of messages that no webhook receives', async () => {
    const warningOf = async (request: object) => {
      const responseHeaders: Record<string, string> = {};
      await user.call(method.createRule, { ...fields, ...request }, { responseHeaders });
      return responseHeaders[warningHeader];
    };
    expect(await warningOf({})).toMatch(/^The rule sends no messages yet/);
    expect(await warningOf({ disabled: true, key: 'unknown' })).toBeUndefined();
    await fixture.context.store.webhooks.put(aWebhook({ userId }));
    expect(await warningOf({})).toBeUndefined();
  });

  test('warn of an item that no tracked job has read', async () => {
    await fixture.context.store.webhooks.put(aWebhook({ userId }));
    await tracking.run(userId, [lamp]);
    const warningOf = async (market: string, key: string) => {
      const responseHeaders: Record<string, string> = {};
      const rule = { ...fields, region: '', market, key };
      await user.call(method.createRule, rule, { responseHeaders });
      return responseHeaders[warningHeader];
    };
    expect(await warningOf('mkta', lamp)).toBeUndefined();
    expect(await warningOf('', lamp)).toBeUndefined();
    const unknown = /^No tracked item has this ID yet/;
    expect(await warningOf('', chair)).toMatch(unknown);
    expect(await warningOf('mkte', lamp)).toMatch(unknown);
  });

  test('are limited in number', async () => {
    for (let count = 0; count < maxRules; count++)
      await fixture.context.store.rules.insert(aRule({ userId }));
    await expect(user.call(method.createRule, fields)).rejects.toMatchObject({ code: 'conflict' });
  });
});
