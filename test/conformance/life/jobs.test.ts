import { createHash } from 'node:crypto';
import { createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { describe, expect, test } from 'vitest';
import { JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { sendJson, type TestUser, variantSold } from '../../support/service/api.ts';
import { type AnyJson, download, ended, linesOf, submit, submitRows, useLife } from './life.ts';

const life = useLife();
/** The second item does not exist. */
const rows = ['sg,7400,61000000001', 'id,7400,61000000800', 'sg,7400,61000000002'];

/** One product, one that does not exist, and one whose page fails for now. */
const mixed = [rows[0]!, rows[1]!, 'id,7400,61000000813'];

const get = async (user: TestUser, path: string): Promise<AnyJson> => {
  const { status, body } = await life().api.get(user, path);
  if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
  return body;
};
const newest = async (user: TestUser): Promise<AnyJson> => (await get(user, '/v1/jobs')).jobs[0];

/** Runs a job of product pages, one of which does not exist, and returns it. */
async function endedRows(user: TestUser): Promise<AnyJson> {
  await ended(life(), user, await submitRows(life(), user, rows));
  return waitForEnd(user, (await newest(user)).job_id);
}

/** Waits until a job has ended and returns it. */
async function waitForEnd(user: TestUser, jobId: string): Promise<AnyJson> {
  const job = await get(user, `/v1/jobs/${jobId}?wait=30`);
  expect(job.ended).toBe(true);
  return job;
}

test('signed links of deleted files return 410', async () => {
  const user = await life().api.createUser(100);
  const job = await endedRows(user);
  const path = `/v1/jobs/${job.job_id}`;
  const { download_url: link } = (await get(user, `${path}/files`)).files[0];
  expect((await fetch(link)).status).toBe(200);
  const deleted = await sendJson('DELETE', `${life().deployment.url}${path}/files`, user.key);
  expect([deleted.status, deleted.body]).toEqual([
    200,
    { ...job, files_deleted_at: deleted.body.files_deleted_at },
  ]);
  const gone = {
    detail: expect.any(String),
    code: 'results_deleted',
    request_id: expect.any(String),
  };
  const refused = await fetch(link);
  expect([refused.status, await refused.json()]).toEqual([410, gone]);
  const { status, body } = await life().api.get(user, `${path}/results`);
  expect([status, body]).toEqual([410, gone]);
  expect(await get(user, `${path}/files`)).toEqual({ files: [] });
  expect((await get(user, job.retrieve_path)).status).toBe('partial_complete');
});

test('returns a job of any kind by id, with the retrieve path of its kind', async () => {
  const user = await life().api.createUser(100);
  const job = await endedRows(user);
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  expect(job).toEqual({
    job_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    user_id: user.id,
    kind: 'get_pc_bulk',
    market: 'mkta',
    region: '',
    status: 'partial_complete',
    cost: 24,
    refunded: 8,
    total: 3,
    success: 2,
    failed: 1,
    created_at: time,
    started_at: time,
    finished_at: time,
    reason: '',
    waiting_for: '',
    task_id: expect.any(Number),
    retrieve_path: `/v1/mkta/get_pc_bulk/retrieve/${job.task_id}`,
    retry_of: '',
    reread_of: '',
    schedule_id: '',
    batches: 3,
    batches_done: 3,
    unit_price: 8,
    ended: true,
    user_name: '',
    charged: 24,
    not_run: 0,
    decided_by: '',
    mode: 'live',
  });
  expect(await get(user, job.retrieve_path)).toMatchObject({ status: job.status, success: 2 });
});

test('serves paths with and without /v1, answers HEAD like GET, and hides jobs of other users', async () => {
  const user = await life().api.createUser(100);
  const stranger = await life().api.createUser(0);
  const { job_id: jobId } = await endedRows(user);
  const paths = ['', '/units', '/faults', '/progress', '/files', '/results', '/failures'];
  for (const path of paths.map((end) => `/jobs/${jobId}${end}`)) {
    const ask = (method: string, at: string, key: string) =>
      fetch(life().deployment.url + at, { method, headers: { authorization: `Bearer ${key}` } });
    const [long, short, head, foreign] = await Promise.all([
      ask('GET', `/v1${path}`, user.key),
      ask('GET', path, user.key),
      ask('HEAD', `/v1${path}`, user.key),
      ask('GET', `/v1${path}`, stranger.key),
    ]);
    expect([long!.status, short!.status, head!.status, foreign!.status], path).toEqual([
      200, 200, 200, 404,
    ]);
    expect(head!.headers.get('content-type'), path).toBe(long!.headers.get('content-type'));
    expect(await head!.text()).toBe('');
    const unsigned = async (response: Response) =>
      (await response.text()).replaceAll(/\?expires[^"]*/g, '');
    const [one, other] = [await unsigned(long!), await unsigned(short!)];
    if (!path.endsWith('/progress')) expect(other, path).toBe(one);
    expect(one, path).not.toBe('');
  }
  for (const verb of ['retry', 'cancel'])
    expect((await life().api.post(stranger, `/v1/jobs/${jobId}/${verb}`, {})).status).toBe(404);
  expect((await life().api.get(stranger, '/jobs')).body).toEqual({ jobs: [], next_page_token: '' });
});

test('lists jobs by status, kind, and marketplace in pages', async () => {
  const user = await life().api.createUser(1_000);
  const made: string[] = [];
  for (let turn = 0; turn < 3; turn++) {
    const items = [{ item_id: '30000000001', shop_id: '77' }];
    const { body } = await life().api.post(user, variantSold.submit, { country: 'sg', items });
    made.unshift(body.job_id);
  }
  const ids = async (query: string) =>
    (await get(user, `/v1/jobs?${query}`)).jobs.map((job: AnyJson) => job.job_id);
  expect(await ids('kind=variant_sold')).toEqual(made);
  expect(await ids('market=mkta&status=awaiting_approval')).toEqual(made);
  expect(await ids('status=rejected')).toEqual([]);
  expect(await ids('market=mktb')).toEqual([]);
  const { jobs, next_page_token: token } = await get(
    user,
    '/v1/jobs?kind=variant_sold&page_size=2',
  );
  expect(jobs).toHaveLength(2);
  expect(await ids(`kind=variant_sold&page_size=2&page_token=${token}`)).toEqual([made[2]]);
  for (const [query, field] of [
    ['kind=all', 'kind'],
    ['status=DONE', 'status'],
    ['market=mktz', 'market'],
    ['page_size=-1', 'page_size'],
    ['page_size=x', 'page_size'],
  ]) {
    const { status, body } = await life().api.get(user, `/v1/jobs?${query}`);
    expect([status, body.detail?.[0]?.loc], query).toEqual([422, ['query', field]]);
  }
});

test('lists, groups, and exports failed units with their refunds', async () => {
  const user = await life().api.createUser(100);
  const { job_id: jobId } = await endedRows(user);
  const at = `/v1/jobs/${jobId}`;
  const { units } = await get(user, `${at}/units`);
  expect(units.map(({ index, status, region }: AnyJson) => [index, status, region])).toEqual([
    [0, 'SUCCESS', 'sg'],
    [1, 'FAILED', 'id'],
    [2, 'SUCCESS', 'sg'],
  ]);
  expect(units[1].input).toEqual({ shop_id: '7400', item_id: '61000000800' });
  const { units: failed } = await get(user, `${at}/units?status=FAILED&code=page_not_found`);
  expect(failed).toEqual([units[1]]);
  expect(await get(user, `${at}/faults`)).toEqual({
    faults: [{ code: 'page_not_found', units: 1, examples: [units[1]] }],
  });
  const [line] = linesOf(await download(life(), `${at}/failures`, user));
  expect(line).toEqual({
    index: 1,
    batch_id: units[1].batch_id,
    key: '61000000800',
    region: 'id',
    input: units[1].input,
    code: 'page_not_found',
    message: units[1].message,
    credits: 8,
    refund_entry: `refund:${jobId}`,
  });
  const { key, amount } = (await life().api.ledger(user)).find(
    (entry) => entry.key === line.refund_entry,
  )!;
  expect([key, amount]).toEqual([line.refund_entry, 8]);
  const csv = await download(life(), `${at}/failures?format=csv`, user);
  expect(csv.type).toBe('text/csv; charset=utf-8');
  expect(csv.text.split('\r\n')).toHaveLength(3);
  expect((await life().api.get(user, `${at}/failures?format=xml`)).status).toBe(422);
});

test('lists files with links, sizes, and checksums; results are the records of the files', async () => {
  const user = await life().api.createUser(100);
  const { job_id: jobId } = await endedRows(user);
  const { files } = await get(user, `/v1/jobs/${jobId}/files`);
  expect(files).toHaveLength(1);
  const file = await download(life(), files[0].download_url);
  expect([file.name, file.bytes.length]).toEqual([files[0].name, files[0].bytes]);
  expect(createHash('sha256').update(file.bytes).digest('hex')).toBe(files[0].sha256);
  const lines = linesOf(await download(life(), `/v1/jobs/${jobId}/results`, user));
  expect(lines.map(({ index }) => index)).toEqual([0, 2]);
  const csv = file.text.split('\r\n')[1]!;
  expect(csv).toContain(JSON.stringify(lines[0].record).replaceAll('"', '""'));

  const listing = await submit(life(), user, '/v1/mkte/search/bulk', {
    items: [{ keyword: 'desk lamp 87702', list_type: 'search', country: 'us' }],
  });
  await ended(life(), user, listing);
  const { files: listings } = await get(user, `/v1/jobs/${listing.id}/files`);
  expect(listings).toMatchObject([{ scope: 'unit', index: 0, content_type: 'application/json' }]);
  const [result] = linesOf(await download(life(), `/v1/jobs/${listing.id}/results`, user));
  expect(result).not.toHaveProperty('record');
  const entries = await download(life(), result.file.download_url, user);
  expect(createHash('sha256').update(entries.bytes).digest('hex')).toBe(result.file.sha256);
  await expect(download(life(), result.file.download_url)).rejects.toThrow('401');
});

test('progress rises from zero to the final counts', async () => {
  const user = await life().api.createUser(100);
  const job = await endedRows(user);
  const { points } = await get(user, `/v1/jobs/${job.job_id}/progress`);
  expect(points[0]).toEqual({ at: job.started_at, success: 0, failed: 0 });
  expect(points.at(-1)).toEqual({ at: job.finished_at, success: 2, failed: 1 });
  const times = points.map(({ at }: AnyJson) => Date.parse(at));
  expect(times).toEqual(times.toSorted((one: number, other: number) => one - other));
});

describe('retry', () => {
  test('creates one job from the failed units that can change, and no others', async () => {
    const user = await life().api.createUser(100);
    await ended(life(), user, await submitRows(life(), user, mixed));
    const { job_id: jobId } = await waitForEnd(user, (await newest(user)).job_id);
    const again = (key: string) =>
      life().api.post(user, `/jobs/${jobId}/retry`, undefined, { 'idempotency-key': key });
    const { status, body, headers } = await again('one');
    expect(headers.get('x-gleaner-warning')).toBe(
      '1 of 2 failed units are retried. The failure of the others is final: 1 page_not_found.',
    );
    expect([status, body]).toMatchObject([
      202,
      { retry_of: jobId, total: 1, cost: 8, kind: 'get_pc_bulk' },
    ]);
    expect(body.task_id).toEqual(expect.any(Number));
    expect((await again('one')).body.job_id).toBe(body.job_id);
    await waitForEnd(user, body.job_id);
    const second = await again('two');
    expect(second.status).toBe(202);
    expect(second.body.job_id).not.toBe(body.job_id);
    expect((await waitForEnd(user, second.body.job_id)).refunded).toBe(8);
    expect(await life().api.balance(user)).toBe(100 - 8);
  });

  test('is refused if no failed unit can change, if nothing failed, and if credits are insufficient', async () => {
    const user = await life().api.createUser(16);
    await ended(life(), user, await submitRows(life(), user, [rows[1]!]));
    const final = await waitForEnd(user, (await newest(user)).job_id);
    const refused = await life().api.post(user, `/v1/jobs/${final.job_id}/retry`, {});
    expect([refused.status, refused.body]).toMatchObject([
      409,
      { detail: expect.stringContaining('1 page_not_found') },
    ]);
    await ended(life(), user, await submitRows(life(), user, [rows[0]!, mixed[2]!]));
    const job = await waitForEnd(user, (await newest(user)).job_id);
    await ended(life(), user, await submitRows(life(), user, [rows[2]!]));
    const done = await waitForEnd(user, (await newest(user)).job_id);
    expect((await life().api.post(user, `/v1/jobs/${done.job_id}/retry`, {})).status).toBe(409);
    const { status, body } = await life().api.post(user, `/v1/jobs/${job.job_id}/retry`, {});
    expect([status, body]).toMatchObject([402, { required: 8, current: 0, shortfall: 8 }]);
  });
});

describe('cancel', () => {
  test('rejects a job awaiting approval and refunds it', async () => {
    const user = await life().api.createUser(100);
    const job = await submit(life(), user, '/v1/mkta/search-items', {
      urls: ['https://mkta.example.com.my/search?keyword=lamp%20000'],
    });
    const { status, body } = await life().api.post(user, `/v1/jobs/${job.id}/cancel`, undefined);
    expect([status, body]).toMatchObject([
      200,
      {
        status: 'rejected',
        ended: true,
        reason: 'Cancelled by its owner.',
        refunded: 6,
        failed: 1,
      },
    ]);
    expect(await life().api.balance(user)).toBe(100);
    const again = await life().api.post(user, `/v1/jobs/${job.id}/cancel`, undefined);
    expect([again.status, again.body.detail]).toEqual([409, expect.stringContaining('rejected')]);
  });

  test('stops a running job for its owner or an operator', async () => {
    const user = await life().api.createUser(100_000);
    for (const by of ['owner', 'operator'] as const) {
      const many = Array.from(
        { length: 1_500 },
        (_, at) => `sg,7400,${61_000_000_001 + (at % 600)}`,
      );
      await submitRows(life(), user, many);
      const { job_id: jobId } = await newest(user);
      const stopped: AnyJson =
        by === 'owner'
          ? (await life().api.post(user, `/v1/jobs/${jobId}/cancel`, undefined)).body
          : await life().api.operatorJobs('CancelJob', { job_id: jobId, reason: 'Not now.' });
      expect(stopped.status).toBe('terminated');
      const job = await get(user, `/v1/jobs/${jobId}`);
      expect(job).toMatchObject({ status: 'terminated', ended: true, total: 1_500 });
      expect(job.success + job.failed).toBe(1_500);
      expect(job.refunded).toBe(job.failed * 8);
      expect(job.reason).toBe(by === 'owner' ? 'Cancelled by its owner.' : 'Not now.');
    }
  });
});

describe('watching', () => {
  const clientOf = (user: TestUser) => {
    const headers = { authorization: `Bearer ${user.key}` };
    const client = createClient(
      JobService,
      createGrpcTransport({ baseUrl: life().deployment.grpc }),
    );
    return (jobId: string, signal?: AbortSignal) =>
      client.watchJob({ jobId }, { headers, ...(signal ? { signal } : {}) });
  };

  test('streams a job until it has ended', async () => {
    const user = await life().api.createUser(10_000);
    await submitRows(life(), user, [...rows, ...Array(60).fill(rows[0])]);
    const { job_id: jobId } = await newest(user);
    const seen: { done: number; ended: boolean }[] = [];
    for await (const job of clientOf(user)(jobId))
      seen.push({ done: job.success + job.failed, ended: job.ended });
    expect(seen.at(-1)).toEqual({ done: 63, ended: true });
    expect(seen.filter(({ ended: over }) => over)).toHaveLength(1);
    expect(seen.map(({ done }) => done)).toEqual(
      seen.map(({ done }) => done).toSorted((a, b) => a - b),
    );
  });

  test('ends when the caller disconnects, and is refused for another user’s job', async () => {
    const user = await life().api.createUser(100);
    const items = [{ item_id: '30000000001', shop_id: '77' }];
    const { body } = await life().api.post(user, variantSold.submit, { country: 'sg', items });
    const leaving = new AbortController();
    const statuses: string[] = [];
    const watched = (async () => {
      for await (const job of clientOf(user)(body.job_id, leaving.signal)) {
        statuses.push(job.status);
        leaving.abort();
      }
    })();
    await expect(watched).rejects.toThrow();
    expect(statuses).toEqual(['awaiting_approval']);
    const stranger = await life().api.createUser(0);
    const refused = (async () => {
      for await (const _job of clientOf(stranger)(body.job_id)) throw new Error('shown');
    })();
    await expect(refused).rejects.toThrow(/not_found/);
  });

  test('streams to a browser on the port of the gateway', async () => {
    const user = await life().api.createUser(100);
    const { job_id: jobId } = await endedRows(user);
    const url = `${life().deployment.url}/gleaner.job.v1.JobService/GetJob`;
    const { status, body } = await sendJson('POST', url, user.key, { job_id: jobId });
    expect([status, body.jobId, body.ended]).toEqual([200, jobId, true]);
  });
});
