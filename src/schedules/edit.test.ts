import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { putAddress, storeDestination } from '../../test/support/jobs/destinations.ts';
import {
  csvRequest,
  minute,
  openScheduleFixture,
  type ScheduleFixture,
} from '../../test/support/jobs/schedules.ts';
import { Fault } from '../contract/fault.ts';
import { pauseSchedule, type ScheduleCaller } from './change.ts';
import { type NewSchedule, type ScheduleFields, updateSchedule } from './edit.ts';

let fixture: ScheduleFixture;
let caller: ScheduleCaller;
beforeEach(async () => {
  fixture = await openScheduleFixture();
  caller = await fixture.createCaller(1_000);
});
afterEach(() => fixture.close());

const problemsOf = async (call: Promise<unknown>) => {
  const fault = await call.then(
    () => null,
    (error) => Fault.from(error),
  );
  return fault?.problems.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`) ?? [];
};
const create = (fields: Partial<NewSchedule> = {}) => fixture.create(caller, fields);
const jobsOf = async () =>
  (await fixture.context.store.jobs.list({ userId: caller.userId }, { limit: 100 })).items;

describe('createSchedule()', () => {
  test('creates one schedule for each idempotency key of a user', async () => {
    const createUnder = (key: string, fields: Partial<NewSchedule> = {}, by = caller) =>
      fixture.create(by, { options: { maxCredits: 100 }, ...fields }, key);
    const [first, second] = await Promise.all([createUnder('a'), createUnder('a')]);
    expect(second).toEqual(first);
    expect(await createUnder('a')).toEqual(first);
    expect(await fixture.context.store.schedules.count({ userId: caller.userId }, 10)).toBe(1);
    for (const other of [
      { cron: '1 8 * * *' },
      { request: csvRequest('region,shop_id,item_id\nsg,7,9\n') },
    ])
      await expect(createUnder('a', other)).rejects.toMatchObject({ code: 'conflict' });
    const others = [
      await createUnder('b'),
      await createUnder('a', {}, await fixture.createCaller(1_000)),
    ];
    expect(new Set([first, ...others].map(({ id }) => id)).size).toBe(3);
  });

  test('locates the problems of the request of every kind in `request`', async () => {
    const request = JSON.stringify({ items: [{ item_id: '1', shop_id: '7', country: 'xx' }] });
    expect(await problemsOf(create({ kind: 'variant_sold', request }))).toEqual([
      expect.stringMatching(/^body\.request\.items\.0\.country: Input should be 'id'/),
    ]);
    const mixed = JSON.stringify({
      items: ['sg', 'id'].map((country) => ({ item_id: '1', shop_id: '7', country })),
    });
    expect(await problemsOf(create({ kind: 'variant_sold', request: mixed }))).toEqual([
      expect.stringContaining('body.request.'),
    ]);
    const csv = csvRequest('region,shop_id,item_id\nxx,77,3\n');
    expect(await problemsOf(create({ request: csv }))).toEqual([
      expect.stringMatching(/^body\.request\.file\.1\.region: /),
    ]);
    expect(await problemsOf(create({ request: '[]' }))).toEqual([
      'body.request: Input should be an object',
    ]);
  });

  test.each<[Partial<NewSchedule>, string]>([
    [{ market: 'mktz' }, 'body.market: Input should be one of mkta, not "mktz"'],
    [
      { market: 'shopee' },
      'body.market: Input should be one of mkta, not "shopee". Did you mean mkta?',
    ],
    [{ kind: 'nope' }, 'body.kind: Input should be one of '],
    [{ cron: '* * * * * *' }, 'body.cron: Input should be a cron expression of five fields'],
    [{ timeZone: 'Mars' }, 'body.time_zone: Input should be an IANA time zone'],
    [{ endAt: 1 }, 'body.end_at: No run is due before the end'],
    [{ startAt: 9e12, endAt: 8e12 }, 'body.end_at: The end is not after the start'],
    [{ maxTotalCredits: 7 }, 'body.max_total_credits: A run costs 8 credits, more than 7'],
    [
      { options: { maxCredits: 7 } },
      'body.options.max_credits: A run costs 8 credits, more than 7',
    ],
    [
      { options: { deliverTo: 'nowhere' } },
      "body.options.deliver_to: 'nowhere' is not the id or name of one of",
    ],
    [
      { options: { hold: 'colour:95' } },
      "body.options.hold: 'colour' is not a field of the records. Use ",
    ],
    [{ options: { only: 'changed' } }, 'body.options.only: '],
  ])('refuses %j', async (fields, problem) => {
    const problems = await problemsOf(create(fields));
    expect(problems).toEqual([expect.stringContaining(problem)]);
  });

  test('reports the problems of all options at once', async () => {
    const options = {
      deliverTo: 'nowhere,warehouse',
      hold: 'a:1,b:2',
      only: 'changed',
      maxCredits: 7,
    };
    await storeDestination(fixture.context, caller.userId, putAddress('https://files.invalid'));
    const places = (await problemsOf(create({ options }))).map((problem) => problem.split(':')[0]);
    expect(places).toEqual([
      'body.options.max_credits',
      ...['hold', 'hold', 'only', 'deliver_to'].map((name) => `body.options.${name}`),
    ]);
    expect(await jobsOf()).toEqual([]);
  });

  test('reports the problems of the request, the times, and the limits at once', async () => {
    const request = JSON.stringify({ items: [{ shop_id: '7', country: 'sg' }] });
    const fields = { kind: 'variant_sold', request, cron: '0 25 * * *', timeZone: 'Asia/Atlantis' };
    expect(await problemsOf(create(fields))).toEqual([
      'body.request.items.0.item_id: Field required',
      expect.stringMatching(/^body\.cron: .*not "0 25/),
      expect.stringMatching(/^body\.time_zone: .*not "Asia\/Atlantis"/),
    ]);
  });

  test('refuses more than 100 schedules of a user', async () => {
    for (let count = 0; count < 100; count++) await create();
    await expect(create()).rejects.toMatchObject({ code: 'conflict' });
  });
});

describe('updateSchedule()', () => {
  test('changes the times and the request of an active schedule', async () => {
    const { id } = await create();
    const later = { cron: '0 * * * *', timeZone: 'Asia/Kolkata' };
    const request = csvRequest('region,shop_id,item_id\nsg,1,2\nid,3,4\n');
    const changed = await updateSchedule(fixture.context, id, caller, later, request);
    expect(changed).toMatchObject({ ...later, units: 2, state: 'active' });
    expect(new Date(changed.nextRunAt!).toISOString()).toBe('2030-01-07T04:30:00.000Z');
    expect(
      (await fixture.context.store.schedules.pick({ id }, ['request', 'revision']))?.request,
    ).toBe(request);
  });

  test('keeps a run that is due, unless its times change', async () => {
    const { id, nextRunAt } = await create();
    const other = await create();
    await fixture.clock.advance(minute);
    await updateSchedule(fixture.context, id, caller, { name: 'New' }, csvRequest());
    await updateSchedule(fixture.context, other.id, caller, { cron: '0 * * * *' }, undefined);
    await fixture.tick(1);
    expect(await fixture.runs(id)).toMatchObject([{ scheduledFor: nextRunAt, state: 'running' }]);
    expect(await fixture.runs(other.id)).toEqual([]);
  });

  test('refuses options that the submit of a run would refuse, also after a destination was deleted', async () => {
    const { store } = fixture.context;
    const destination = await storeDestination(
      fixture.context,
      caller.userId,
      putAddress('https://a.invalid'),
    );
    const { id } = await create({ options: { deliverTo: 'warehouse' } });
    const update = (changes: Partial<ScheduleFields>) =>
      updateSchedule(fixture.context, id, caller, changes, undefined);
    expect(await problemsOf(update({ options: { hold: 'colour:95' } }))).toEqual([
      expect.stringMatching(/^body\.options\.hold: 'colour'/),
    ]);
    await store.destinations.remove({ id: destination.id, userId: caller.userId });
    expect(await problemsOf(update({ name: 'New' }))).toEqual([
      expect.stringMatching(/^body\.options\.deliver_to: 'warehouse'/),
    ]);
    await fixture.tick(minute);
    expect(await fixture.runs(id)).toMatchObject([
      { state: 'not_submitted', reason: expect.stringContaining("'warehouse'") },
    ]);
    expect((await update({ options: {} })).options).toEqual({});
  });

  test('refuses a schedule of another user and invalid changes', async () => {
    const { id } = await create();
    const other = await fixture.createCaller(0);
    const update = (by: ScheduleCaller, changes: Partial<ScheduleFields>, request?: string) =>
      updateSchedule(fixture.context, id, by, changes, request);
    await expect(update(other, { name: 'x' })).rejects.toMatchObject({ code: 'not_found' });
    expect(await problemsOf(update(caller, { cron: 'x' }))).toEqual([
      expect.stringContaining('body.cron'),
    ]);
    expect(await problemsOf(update(caller, {}, '{}'))).toEqual([
      expect.stringContaining('body.request.file'),
    ]);
    expect((await fixture.get(id)).revision).toBe(1);
  });

  test('keeps a paused schedule paused, and continues an ended one', async () => {
    const { id } = await create();
    await pauseSchedule(fixture.context, id, caller.userId);
    const renamed = await updateSchedule(fixture.context, id, caller, { name: 'New' }, undefined);
    expect(renamed).toMatchObject({ state: 'paused', nextRunAt: null });
    const ending = await create({ endAt: fixture.clock.now() + minute + 1 });
    await fixture.tick(minute);
    expect(await fixture.get(ending.id)).toMatchObject({ state: 'ended' });
    await updateSchedule(fixture.context, ending.id, caller, { endAt: null }, undefined);
    expect(await fixture.get(ending.id)).toMatchObject({ state: 'active', reason: '' });
  });
});
