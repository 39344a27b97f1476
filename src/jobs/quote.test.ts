import { create, fromJson } from '@bufbuild/protobuf';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SubmitOptionsSchema } from '../../gen/gleaner/job/v1/submit_options_pb.ts';
import {
  type JobFixture,
  noon,
  openJobFixture,
  variantSoldRequest,
} from '../../test/support/jobs/jobs.ts';
import { parseOrigins } from '../base/origins.ts';
import { parseWorkingHours } from '../base/working-hours.ts';
import type { SubmitOptionValues } from '../contract/submit-options.ts';
import { openLocalQueue } from '../queue/local/open.ts';
import { aKey } from '../store/conformance/samples.ts';
import { submit } from './steps/submit.ts';

const origins = parseOrigins(
  JSON.stringify({
    mkta: {
      sg: 'https://sg.example',
      id: 'https://id.example',
      requests_per_second: 4,
      concurrency: 2,
    },
  }),
);
const csv = (...rows: string[]) => ({
  file: Buffer.from(['region,shop_id,item_id', ...rows, ''].join('\n')).toString('base64'),
});
const at = (ms: number) => ({ seconds: BigInt(ms / 1000) });

let fixture: JobFixture;
let userId: string;
beforeEach(async () => {
  fixture = await openJobFixture({ origins });
  userId = await fixture.createUser(1_000);
});
afterEach(() => fixture.close());

const quote = async (
  request: object,
  options: SubmitOptionValues = {},
  method = 'SubmitVariantSold',
) =>
  (
    await fixture.submit(userId, method, request as never, 'key', {
      ...options,
      validateOnly: true,
    })
  ).quote;

/** Pauses the origin of a region for a time in milliseconds. */
const pause = (region: string, ms: number) =>
  fixture.context.store.origins.putPause(`https://${region}.example`, {
    revision: 1,
    until: noon + ms,
    reason: 'page_blocked',
    failures: 1,
    since: noon,
    probing: false,
  });

describe('the quote of a submission', () => {
  test('has the size, the price, and the balance after the charge', async () => {
    expect(await quote(variantSoldRequest(60))).toMatchObject({
      market: 'mkta',
      kind: 'variant_sold',
      accepted: true,
      refusals: [],
      warnings: [],
      units: 60,
      duplicates: 0,
      duplicateUnits: [],
      batches: 2,
      unitPrice: 10,
      cost: 600,
      balance: 1_000n,
      balanceAfter: 400n,
      shortfall: 0n,
      overMaxCredits: false,
      needsApproval: true,
      chargedAt: 'approval',
      delays: [{ reason: 'approval' }],
      beginsAt: at(noon),
      batchesAhead: 0,
    });
  });

  test('counts the batches of the marketplace that are queued, as of 5 s ago', async () => {
    await fixture.submit(userId, 'SubmitGetPcBulk', csv('sg,7,20101'));
    expect(await quote(variantSoldRequest(1))).toMatchObject({ batchesAhead: 1 });
    await fixture.submit(userId, 'SubmitGetPcBulk', csv('sg,7,20102'));
    expect(await quote(variantSoldRequest(1))).toMatchObject({ batchesAhead: 1 });
    await fixture.clock.advance(5_000);
    expect(await quote(variantSoldRequest(1))).toMatchObject({ batchesAhead: 2 });
  });

  test('says when a kind without approval is charged', async () => {
    const request = csv('sg,7,20101', 'id,7,20101', 'sg,7,20101', 'sg,7,20101');
    expect(await quote(request, {}, 'SubmitGetPcBulk')).toMatchObject({
      needsApproval: false,
      chargedAt: 'submit',
      delays: [],
      cost: 32,
      duplicates: 2,
      duplicateUnits: [{ key: '20101', region: 'sg', times: 3 }],
      warnings: ['2 units are the same as earlier ones. They are read and charged again.'],
    });
  });

  test('lists every refusal: over max_credits, and the shortfall', async () => {
    expect(await quote(variantSoldRequest(150), { maxCredits: 1_499 })).toMatchObject({
      accepted: false,
      overMaxCredits: true,
      shortfall: 500n,
      balanceAfter: -500n,
      refusals: [
        {
          code: 'max_credits_exceeded',
          message: 'max_credits: The work costs 1500 credits, more than the maximum of 1499.',
        },
        {
          code: 'insufficient_credits',
          message: 'The work costs 1500 credits, the account has 1000: 500 short.',
        },
      ],
    });
  });

  test('lists the refusals of the options, the first of which a submission reports', async () => {
    const options = { hold: 'no.field:95', only: 'changed', deliverTo: 'nowhere', maxCredits: 1 };
    const { accepted, refusals } = await quote(variantSoldRequest(1), options);
    expect([
      accepted,
      refusals.map(({ message }: { message: string }) => message.split(':')[0]),
    ]).toEqual([false, ['hold', 'query.only', 'deliver_to', 'max_credits']]);
    const submitted = fixture.submit(
      userId,
      'SubmitVariantSold',
      variantSoldRequest(1),
      'key',
      options,
    );
    await expect(submitted).rejects.toMatchObject({ problems: [{ loc: ['query', 'hold'] }] });
  });

  test('has the shortfall under the ceiling of the key', async () => {
    const key = aKey({ userId, creditCeiling: 15 });
    await fixture.context.store.apiKeys.insert(key);
    const offered = fixture.context.jobTypes.methods.get(
      'gleaner.mkta.v1.MktaService.SubmitVariantSold',
    )!;
    const options = create(SubmitOptionsSchema, { validateOnly: true });
    const request = fromJson(offered.method.input, variantSoldRequest(2));
    const response = await submit(fixture.context, offered, request, {
      userId,
      mode: 'live' as const,
      keyId: key.id,
      idempotencyKey: undefined,
      options,
    });
    expect(response).toMatchObject({
      quote: { accepted: false, shortfall: 5n, balanceAfter: 980n },
    });
  });

  test('reports a full disk and a queue that does not respond', async () => {
    fixture.setFreeBytes(0);
    const { context } = fixture;
    const there = context.queue;
    context.queue = openLocalQueue({ clock: fixture.clock, log: context.log });
    await context.queue.close();
    const single = { region: 'sg', itemId: '20101', shopId: '7' };
    const { accepted, refusals } = await quote(single, {}, 'SubmitGetPc');
    expect([accepted, refusals.map(({ code }: { code: string }) => code)]).toEqual([
      false,
      ['disk_full', 'unavailable'],
    ]);
    context.queue = there;
  });

  test('contains the problems of an invalid request', async () => {
    const invalid = quote(csv('sg,7,x', 'xx,7,1'), {}, 'SubmitGetPcBulk');
    await expect(invalid).rejects.toMatchObject({
      code: 'invalid',
      problems: [{ loc: ['body', 'file', 1, 'item_id'] }, { loc: ['body', 'file', 2, 'region'] }],
    });
  });
});

describe('the start of a quoted job', () => {
  test('is the next opening for kinds with working hours', async () => {
    fixture.context.settings.workingHours = parseWorkingHours('13:00-18:00+08:00');
    const delay = { reason: 'working_hours', until: at(noon + 3_600_000) };
    expect(await quote(variantSoldRequest(1))).toMatchObject({
      delays: [{ reason: 'approval' }, delay],
      beginsAt: at(noon + 3_600_000),
    });
    const other = await quote(csv('sg,7,20101'), {}, 'SubmitGetPcBulk');
    expect(other).toMatchObject({ delays: [], beginsAt: at(noon) });
  });

  test('is the end of a pause if every origin is paused', async () => {
    await pause('sg', 60_000);
    await pause('id', 30_000);
    const delays = [
      {
        reason: 'origin_paused',
        region: 'sg',
        until: at(noon + 60_000),
        message: 'mkta/sg: blocked (page_blocked)',
      },
    ];
    const one = await quote(csv('sg,7,20101'), {}, 'SubmitGetPcBulk');
    expect(one).toMatchObject({ delays, beginsAt: at(noon + 60_000) });
    const both = await quote(csv('sg,7,20101', 'id,7,20101'), {}, 'SubmitGetPcBulk');
    expect(both).toMatchObject({
      delays: [...delays, { region: 'id' }],
      beginsAt: at(noon + 30_000),
    });
    await fixture.clock.advance(30_000);
    const later = await quote(csv('sg,7,20101', 'id,7,20101'), {}, 'SubmitGetPcBulk');
    expect(later).toMatchObject({ delays, beginsAt: at(noon + 30_000) });
  });

  test('names the regions without an origin', async () => {
    const quoted = await quote(csv('th,7,20101'), {}, 'SubmitGetPcBulk');
    expect(quoted.warnings).toEqual([expect.stringContaining('mkta/th')]);
    expect(quoted).toMatchObject({ accepted: true, durationSeconds: 0n });
  });
});

describe('the duration of a quoted job', () => {
  const rows = (region: string, count: number) =>
    Array.from({ length: count }, (_, index) => `${region},7,${20_101 + index}`);
  const duration = async (...rows: string[]) =>
    (await quote(csv(...rows), {}, 'SubmitGetPcBulk')).durationSeconds as bigint;
  const measure = (origin: string, requests: number, milliseconds: number) =>
    fixture.context.store.originMinutes.accumulate([
      {
        origin,
        market: 'mkta',
        region: 'sg',
        minute: noon - 60_000,
        requests,
        refused: 0,
        failed: 0,
        milliseconds,
      },
    ]);

  test('is the number of requests at the rate of the origin, for the slowest origin', async () => {
    // Two requests at a time of a second each.
    expect(await duration(...rows('sg', 100))).toBe(50n);
    expect(await duration(...rows('sg', 100), ...rows('id', 10))).toBe(50n);
    expect(await duration('sg,7,20101')).toBe(1n);
  });

  test('uses the measured duration of requests, up to the requests per second', async () => {
    await measure('https://sg.example', 10, 40_000);
    expect(await duration(...rows('sg', 100))).toBe(200n);
    await measure('https://sg.example', 990, 0);
    expect(await duration(...rows('sg', 100))).toBe(25n);
  });

  test('is a minimum for listings', async () => {
    const request = { urls: ['https://mkta.sg/shop/21'] };
    expect(await quote(request, {}, 'SubmitMerchantItems')).toMatchObject({
      durationIsMinimum: true,
    });
    expect(await quote(variantSoldRequest(1))).toMatchObject({ durationIsMinimum: false });
  });
});
