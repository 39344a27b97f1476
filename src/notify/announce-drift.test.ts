import { afterEach, beforeEach, expect, test } from 'vitest';
import { type JobFixture, openJobFixture } from '../../test/support/jobs/jobs.ts';
import { storeGauges } from '../app/gauges.ts';
import { sweep } from '../sweep/sweep.ts';
import { newSecret } from './webhook.ts';

const hourMs = 3_600_000;
const unit = { region: 'sg', input: { item_id: '4', shop_id: '7' } };

let fixture: JobFixture;
beforeEach(async () => {
  const operatorWebhook = {
    url: 'https://operators.test/hook',
    secret: newSecret(),
  };
  fixture = await openJobFixture({
    notices: { operatorWebhook, email: null, privateWebhooks: false },
  });
});
afterEach(() => fixture.close());

/** Counts pages of a search, as a worker does, and sweeps. */
async function show(count: number, record: object): Promise<void> {
  const { drift } = fixture.context;
  for (let at = 0; at < count; at += 50) {
    for (let turn = 0; turn < 50; turn += 1) drift.look('mkte', 'search', [record], unit);
    await sweep(fixture.context);
    await fixture.clock.advance(60_000);
  }
}

const whole = { asin: 'B000000001', title: 'Lamp', price: '$4' };

async function messages() {
  const { items } = await fixture.context.store.deliveries.list({}, { limit: 10 });
  return items.map(({ channel, type, body }) => ({ channel, type, ...JSON.parse(body).data }));
}

async function fieldsIn(state: string): Promise<number> {
  const gauges = storeGauges({ ...fixture.context, origins: new Map() });
  const found = (await gauges.gleaner_drift_fields!()).find(
    ({ labels }) => labels.market === 'mkte' && labels.state === state,
  );
  return found!.value;
}

test('operators get one message when pages begin to lack fields, and metrics count these', async () => {
  await show(200, whole);
  expect([await fieldsIn('alarm'), await fieldsIn('gone')]).toEqual([0, 0]);
  await show(200, { ...whole, price: null, title: null });
  const [message, ...others] = await messages();
  expect(others).toEqual([]);
  expect(message).toMatchObject({
    channel: 'webhook',
    type: 'drift.started',
    market: 'mkte',
    page: 'search',
    fields: expect.arrayContaining([expect.objectContaining({ field: 'price', baseline: 0 })]),
    message: expect.stringContaining('read kept pages again with `gleaner job reread <job>`'),
  });
  expect([await fieldsIn('alarm'), await fieldsIn('gone')]).toEqual([2, 2]);
  await fixture.clock.advance(2 * hourMs);
  await show(50, { ...whole, price: null, title: null });
  expect(await messages()).toHaveLength(1);
});
