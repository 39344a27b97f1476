import { expect, test } from 'vitest';
import { plainIds } from '../../sandbox/mkta/ids.ts';
import { submitItems, watchJob } from '../support/service/api.ts';
import { until } from '../support/time/until.ts';
import type { Place } from './place.ts';

/** Processes send a heartbeat every ten seconds. */
const reportMs = 15_000;

/** Defines the cases about processes, origins, and accounts. Jobs start without approval. */
export function operationsCases(at: () => Place): void {
  test('operators see every process with its work and the requests to the origins', async () => {
    const { api, deployment } = at();
    const user = await api.createUser(1_000);
    const items = plainIds(60).map((id) => ({ item_id: String(id), shop_id: '77' }));
    const jobId = await submitItems(api, user, 'sg', items);
    await watchJob(api, user, jobId, 45_000);
    const reported = await until(
      'the units are reported',
      async () => {
        const { processes } = await api.operator('GetWork', {});
        const done = processes.map(({ unitsDone = '0' }) => Number(unitsDone));
        return done.reduce((sum: number, units: number) => sum + units) >= 60
          ? processes
          : undefined;
      },
      { withinMs: reportMs },
    );
    expect(reported.map(({ pid }: { pid: number }) => pid).toSorted()).toEqual(
      deployment.processes.map(({ pid }) => pid()).toSorted(),
    );
    for (const { role, memoryBytes, unitsDone } of reported) {
      expect(Number(memoryBytes)).toBeGreaterThan(10_000_000);
      if (role === 'api') expect(unitsDone).toBeUndefined();
    }
    const asked = await until(
      'the requests are counted',
      async () => {
        const { origins } = await api.operator('ListOrigins', {});
        const origin = origins.find(
          (each: { region: string; minutes?: unknown }) => each.region === 'sg' && each.minutes,
        );
        const requests = origin?.minutes.map(({ requests = 0 }: { requests?: number }) => requests);
        return requests?.reduce((sum: number, each: number) => sum + each) >= 60
          ? origin
          : undefined;
      },
      { withinMs: reportMs },
    );
    expect(asked).toMatchObject({ market: 'mkta', concurrency: 16, requestsPerSecond: 5_000 });
  });

  test('a submit of one item that waits returns its record, also when it is repeated', async () => {
    const { api } = at();
    const user = await api.createUser(100);
    const [id] = plainIds(1);
    const item = { region: 'sg', item_id: String(id), shop_id: '77' };
    const key = { 'idempotency-key': 'one' };
    const page = await api.post(user, '/v1/mkta/get_pc/submit?wait=30s', item, key);
    expect([page.status, page.body.outcome]).toMatchObject([
      202,
      {
        status: 'completed',
        item: { title: expect.any(String) },
        record: { data: { item: { item_id: id } } },
      },
    ]);
    expect((await api.post(user, '/v1/mkta/get_pc/submit?wait=30s', item, key)).body).toEqual(
      page.body,
    );
    const items = [{ item_id: String(id), shop_id: '77' }];
    const sold = await api.post(user, '/v1/mkta/variant_sold_v1/submit?wait=30s', {
      country: 'sg',
      items,
    });
    expect(sold.body.outcome).toMatchObject({
      status: 'completed',
      record: { itemId: String(id) },
    });
    expect(await api.balance(user)).toBe(82);
  });

  test("operators read a user's records and their quality as the owner does, and each read is audited", async () => {
    const { api } = at();
    const user = await api.createUser(100);
    const items = plainIds(3).map((id) => ({ item_id: String(id), shop_id: '77' }));
    const jobId = await submitItems(api, user, 'sg', items);
    await watchJob(api, user, jobId, 45_000);
    const owned = async (path: string) => (await api.get(user, `/v1/jobs/${jobId}/${path}`)).body;
    const asOperator = (method: string, more = {}) =>
      api.operatorJobs(method, { job_id: jobId, ...more });

    const page = await asOperator('ListRecords', { sort: '-item.price' });
    const expected = await owned('records?sort=-item.price');
    expect(page.total).toBe(3);
    expect(page.records.map((entry: { unitKey: string }) => entry.unitKey)).toEqual(
      expected.records.map((entry: { unit_key: string }) => entry.unit_key),
    );
    const { fields } = await asOperator('ListFields');
    expect(
      fields.map((field: { name: string; fill?: number }) => [field.name, field.fill ?? 0]),
    ).toEqual(
      (await owned('fields')).fields.map(({ name, fill }: { name: string; fill: number }) => [
        name,
        fill,
      ]),
    );
    expect(await asOperator('GetQuality')).toMatchObject({ records: '3' });
    const { entries } = await api.operator('ListAuditEntries', {
      target: jobId,
      action: 'ListRecords',
    });
    expect(entries).toHaveLength(1);
  });

  test('a user can read usage and ledger until it is suspended', async () => {
    const { api } = at();
    const user = await api.createUser(500);
    const usage = await api.get(user, '/v1/account/usage?days=1');
    expect([usage.status, usage.body.days]).toEqual([
      200,
      [expect.objectContaining({ granted: 500, jobs: 0 })],
    ]);
    const { body } = await api.get(user, '/v1/account/ledger/export?format=jsonl');
    expect(body).toMatchObject({ amount: 500, type: 'grant', note: 'test' });
    await api.operator('SuspendUser', { user_id: user.id, suspended: true });
    const refused = await api.get(user, '/v1/account/usage');
    expect([refused.status, refused.body]).toMatchObject([
      401,
      { detail: 'The account is suspended.' },
    ]);
    await api.operator('SuspendUser', { user_id: user.id, suspended: false });
    expect((await api.get(user, '/v1/account')).status).toBe(200);
  });
}
