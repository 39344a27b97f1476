import {
  create,
  type DescMethod,
  type MessageInitShape,
  type MessageShape,
} from '@bufbuild/protobuf';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { beforeEach, expect, test } from 'vitest';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { type JobFixture, openJobFixture } from '../../../test/support/jobs/jobs.ts';
import type { Call } from './handlers.ts';
import { operatorHandlers } from './operator.ts';

const { listDriftAlarms, acceptDrift } = OperatorService.method;
const unit = { region: 'sg', input: { item_id: '4', shop_id: '7' } };

let fixture: JobFixture;
beforeEach(async () => {
  fixture = await openJobFixture();
  return () => fixture.close();
});

async function call<M extends DescMethod>(method: M, request: MessageInitShape<M['input']>) {
  const handler = operatorHandlers(fixture.context).unary.get(method)!;
  const response = await handler(create(method.input, request), {} as Call);
  return response as MessageShape<M['output']>;
}

/** Counts pages of one market. */
async function show(market: string, page: string, count: number, record: object): Promise<void> {
  const { drift } = fixture.context;
  for (let at = 0; at < count; at += 50) {
    for (let turn = 0; turn < 50; turn++) drift.look(market, page, [record], unit);
    await drift.flush();
    await fixture.clock.advance(60_000);
  }
}

test('operators list drift alarms with an example, and accept them', async () => {
  const record = { asin: 'B000000001', title: 'Lamp', price: '$4' };
  await show('mkte', 'search', 200, record);
  await show('mktf', 'search', 200, { id: 1 });
  expect((await call(listDriftAlarms, {})).alarms).toEqual([]);
  await show('mkte', 'search', 200, { ...record, price: null });
  const { alarms } = await call(listDriftAlarms, {});
  expect(alarms).toHaveLength(1);
  expect(alarms[0]).toMatchObject({
    market: 'mkte',
    page: 'search',
    field: 'price',
    usualShare: 0,
    exampleUnit: '{"item_id":"4","shop_id":"7"}',
    exampleRegion: 'sg',
  });
  expect(alarms[0]!.absentShare).toBeGreaterThan(0.4);
  expect(timestampMs(alarms[0]!.since!)).toBeLessThan(fixture.clock.now());
  expect((await call(listDriftAlarms, { market: 'mktf' })).alarms).toEqual([]);
  const all = (await call(listDriftAlarms, { market: 'mktf', all: true })).alarms;
  expect(all.find(({ field }) => field === 'id')).toMatchObject({ absentShare: 0, pages: 150 });
  fixture.context.drift.look('mktf', 'search', [{ id: 1 }], unit, new Set(['id']));
  await fixture.context.drift.flush();
  const [id] = (await call(listDriftAlarms, { market: 'mktf', all: true })).alarms.filter(
    ({ field }) => field === 'id',
  );
  expect(id?.contradictedShare).toBeCloseTo(1 / 151);

  expect(
    (await call(acceptDrift, { market: 'mkte', page: 'search', field: 'title' })).fields,
  ).toEqual([]);
  expect(
    (await call(acceptDrift, { market: 'mkte', page: 'search', field: 'price' })).fields,
  ).toEqual(['price']);
  expect((await call(listDriftAlarms, {})).alarms).toEqual([]);
});
