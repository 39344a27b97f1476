import { hash } from 'node:crypto';
import { afterEach, describe, expect, test } from 'vitest';
import { putAddress, storeDestination } from '../../test/support/jobs/destinations.ts';
import { variantSoldRequest } from '../../test/support/jobs/jobs.ts';
import {
  type NotificationFixture,
  type NotificationOptions,
  openNotifications,
} from '../../test/support/jobs/notifications.ts';
import type { ReceivedMessage } from '../../test/support/servers/receiver.ts';
import { createDestinations } from '../destinations/destinations.ts';
import { reject, stopRunning } from '../jobs/steps/decide.ts';
import { deleteFiles } from '../jobs/steps/delete.ts';
import { countsOf } from '../store/batch-store.ts';
import type { Destination } from '../store/destinations.ts';
import type { Delivery } from '../store/documents.ts';

let fixture: NotificationFixture;
let userId: string;
afterEach(() => fixture.close());

/** Opens the fixture with a user without a webhook, and a destination at the receiver. */
async function open(
  options: NotificationOptions = {},
  fields: Partial<Destination> = {},
): Promise<Destination> {
  fixture = await openNotifications(options);
  userId = await fixture.jobs.createUser(2_000);
  const address = putAddress(`${fixture.receiver.url}/inbox`, { authorization: 'Bearer hidden' });
  return storeDestination(fixture.jobs.context, userId, address, fields);
}

const submit = async (deliverTo: string, items = 2): Promise<string> =>
  (
    await fixture.jobs.submit(userId, 'SubmitVariantSold', variantSoldRequest(items), undefined, {
      deliverTo,
    })
  ).jobId;

async function endedJob(deliverTo: string): Promise<string> {
  const jobId = await submit(deliverTo);
  await fixture.jobs.startWorker();
  await fixture.jobs.waitForState(jobId, 'completed', 'partial_complete');
  return jobId;
}

const files = async (): Promise<Delivery[]> =>
  (await fixture.deliveries()).filter(({ channel }) => channel === 'file');
const puts = (): ReceivedMessage[] =>
  fixture.receiver.received.filter(({ path }) => path.includes('/inbox/'));

describe('results of an ended job', () => {
  test('are sent once to each destination, with their length and digest', async () => {
    const destination = await open();
    const jobId = await endedJob('warehouse');
    for (let turn = 0; turn < 3; turn += 1) {
      await fixture.poll();
      await fixture.jobs.clock.advance(200_000);
    }
    const path = `/hook/inbox/mkta/variant_sold/2030-01-07/${jobId}.jsonl`;
    const [put] = puts();
    expect(puts()).toHaveLength(1);
    expect(put).toMatchObject({
      path,
      headers: {
        authorization: 'Bearer hidden',
        'content-type': 'application/x-ndjson',
        'content-length': `${Buffer.byteLength(put!.body)}`,
        'content-digest': `sha-256=:${hash('sha256', put!.body, 'base64')}:`,
      },
    });
    expect(put!.body.trim().split('\n')).toHaveLength(2);
    const [delivery] = await files();
    expect(delivery).toMatchObject({
      key: `job.results:${jobId}:destination:${destination.id}`,
      type: 'job.results',
      jobId,
      userId,
      destinationId: destination.id,
      target: `${fixture.receiver.url}/inbox/${path.slice('/hook/inbox/'.length)}`,
      state: 'delivered',
      attempts: 1,
      responseStatus: 204,
      error: '',
    });
    expect(JSON.stringify(delivery)).not.toContain('hidden');
  });

  test('are sent to several destinations, by id or name, once each', async () => {
    const first = await open();
    const { context } = fixture.jobs;
    const address = putAddress(`${fixture.receiver.url}/inbox/second`);
    await storeDestination(context, userId, address, {
      name: 'second',
      format: 'csv',
      path: '{job_id}.{ext}',
    });
    const jobId = await endedJob(`second,${first.id.toUpperCase()},warehouse`);
    await fixture.poll();
    expect(
      puts()
        .map(({ path }) => path)
        .toSorted(),
    ).toEqual([
      `/hook/inbox/mkta/variant_sold/2030-01-07/${jobId}.jsonl`,
      `/hook/inbox/second/${jobId}.csv`,
    ]);
  });

  test('are not sent without a destination, without results, or after a rejection', async () => {
    await open({ approval: true });
    const withoutDestination = await submit('');
    const rejected = await submit('warehouse');
    for (const id of [withoutDestination, rejected])
      await reject(fixture.jobs.context, id, userId, 'Not today.');
    await fixture.poll();
    expect(await files()).toEqual([]);
  });

  test('are sent for the units that succeeded before the job was terminated', async () => {
    await open();
    const jobId = await submit('warehouse', 60);
    const { context } = fixture.jobs;
    await fixture.jobs.startWorker();
    await fixture.jobs.eventually('a batch ends', async () => {
      const { batches } = await countsOf(context.store, jobId);
      return batches.success > 0;
    });
    await stopRunning(context, jobId, '');
    const { state, counts } = await fixture.jobs.waitForState(jobId, 'terminated', 'completed');
    await fixture.poll();
    expect(await files()).toMatchObject([{ state: 'delivered' }]);
    expect(puts()[0]!.body.trim().split('\n')).toHaveLength(counts!.units.success);
    expect(['terminated', 'completed']).toContain(state);
  });
});

describe('the file', () => {
  test.each([
    ['json', 'application/json', 'json', /^\[\n\{"unit_index":0,/],
    ['jsonl', 'application/x-ndjson', 'jsonl', /^\{"unit_index":0,/],
    ['csv', 'text/csv; charset=utf-8', 'csv', /^unit_index,/],
    ['csv-bom', 'text/csv; charset=utf-8', 'csv', /^\ufeffunit_index,/],
    ['parquet', 'application/vnd.apache.parquet', 'parquet', /^PAR1/],
  ] as const)('has the format %s', async (format, contentType, extension, start) => {
    await open({}, { format, path: '{kind}/{job_id}.{ext}' });
    const jobId = await endedJob('warehouse');
    await fixture.poll();
    expect(await files()).toMatchObject([{ state: 'delivered' }]);
    const [put] = puts();
    expect(put).toMatchObject({
      path: `/hook/inbox/variant_sold/${jobId}.${extension}`,
      headers: { 'content-type': contentType },
    });
    expect(put!.body).toMatch(start);
  });
});

describe('a submission', () => {
  test.each(['nowhere', 'warehouse,nowhere', '00000000-0000-4000-8000-000000000000'])(
    'is refused without a charge if it names %s',
    async (deliverTo) => {
      await open();
      const value = deliverTo.split(',').at(-1);
      await expect(submit(deliverTo)).rejects.toMatchObject({
        code: 'invalid',
        problems: [
          {
            loc: ['query', 'deliver_to'],
            msg: `'${value}' is not the id or name of one of your destinations`,
          },
        ],
      });
      expect(await fixture.jobs.balance(userId)).toBe(2_000);
      expect((await fixture.context.store.jobs.list({ userId }, { limit: 1 })).items).toEqual([]);
    },
  );

  test('is refused if it names another user’s destination, or a deleted one', async () => {
    const { id } = await open();
    const other = await storeDestination(
      fixture.jobs.context,
      'other',
      putAddress('https://x.test'),
    );
    await expect(submit(other.id)).rejects.toMatchObject({ code: 'invalid' });
    await fixture.context.store.destinations.remove({ id, userId });
    await expect(submit('warehouse')).rejects.toMatchObject({ code: 'invalid' });
  });
});

describe('a failed attempt', () => {
  test('is repeated under the same name until the receiver accepts the file', async () => {
    await open();
    const jobId = await endedJob('warehouse');
    const responses: ((
      ...parameters: Parameters<Parameters<typeof fixture.receiver.respondWith>[0]>
    ) => void)[] = [
      (_request, response) => response.writeHead(500).end('out\nof order'),
      (_request, response) => response.writeHead(307, { location: '/elsewhere' }).end(),
      (request) => request.socket.resetAndDestroy(),
      (_request, response) => response.writeHead(201).end(),
    ];
    const errors = ['HTTP 500: out of order', 'HTTP 307: redirects are not followed', 'reset', ''];
    for (const [index, response] of responses.entries()) {
      fixture.receiver.respondWith(response);
      await fixture.poll();
      const [delivery] = await files();
      expect(delivery!.error).toContain(errors[index]);
      expect(delivery!.attempts).toBe(index + 1);
      if (delivery!.nextAttemptAt !== null)
        await fixture.jobs.clock.advance(delivery!.nextAttemptAt - fixture.jobs.clock.now());
    }
    expect((await files())[0]).toMatchObject({ state: 'delivered', responseStatus: 201 });
    expect(new Set(puts().map(({ path }) => path))).toEqual(
      new Set([`/hook/inbox/mkta/variant_sold/2030-01-07/${jobId}.jsonl`]),
    );
    expect(new Set(puts().map(({ body }) => body)).size).toBe(1);
  });

  test('is repeated from the start if the receiver hangs up while the file is sent', async () => {
    await open();
    const bytes = 3_000_000;
    fixture.context.openResults = () => ({
      contentType: 'text/csv',
      extension: 'csv',
      async *read() {
        for (let sent = 0; sent < bytes; sent += 30_000) yield Buffer.alloc(30_000, 'x');
      },
    });
    await endedJob('warehouse');
    fixture.receiver.cutAfter(100_000);
    await fixture.poll();
    expect((await files())[0]).toMatchObject({
      state: 'pending',
      attempts: 1,
      responseStatus: null,
    });
    expect(puts()).toEqual([]);
    fixture.receiver.cutAfter(null);
    await fixture.jobs.clock.advance(5_000);
    await fixture.poll();
    expect((await files())[0]).toMatchObject({ state: 'delivered', attempts: 2 });
    expect(puts()[0]!.body).toHaveLength(bytes);
  });

  test('keeps the name that the file got when the job ended', async () => {
    const destination = await open();
    const jobId = await endedJob('warehouse');
    fixture.receiver.respondWith((_request, response) => response.writeHead(503).end());
    await fixture.poll();
    const changed = { ...destination, path: 'other/{job_id}', format: 'csv' as const, revision: 2 };
    await fixture.context.store.destinations.put(changed);
    fixture.receiver.respondWith((_request, response) => response.writeHead(204).end());
    await fixture.jobs.clock.advance(5_000);
    await fixture.poll();
    expect(new Set(puts().map(({ path }) => path))).toEqual(
      new Set([`/hook/inbox/mkta/variant_sold/2030-01-07/${jobId}.jsonl`]),
    );
  });

  test('is final if the destination or the results were deleted', async () => {
    const destination = await open();
    const { store } = fixture.context;
    await storeDestination(fixture.jobs.context, userId, putAddress(fixture.receiver.url), {
      name: 'b',
    });
    const jobId = await endedJob('warehouse,b');
    fixture.receiver.respondWith((_request, response) => response.writeHead(503).end());
    await fixture.poll();
    await store.destinations.remove({ id: destination.id, userId });
    await deleteFiles(fixture.jobs.context, (await store.jobs.get(jobId))!);
    await fixture.jobs.clock.advance(5_000);
    await fixture.poll();
    expect((await files()).map(({ state, error }) => [state, error]).toSorted()).toEqual([
      ['failed', 'The destination was deleted'],
      ['failed', 'The results were deleted'],
    ]);
  });

  test('is final for a private address', async () => {
    await open();
    const { box } = fixture.context.destinations;
    const now = () => fixture.jobs.clock.now();
    fixture.context.destinations = createDestinations({ box, allowPrivate: false, now });
    await endedJob('warehouse');
    await fixture.poll();
    expect(await files()).toMatchObject([
      { state: 'failed', attempts: 1, error: '127.0.0.1 is not an address of the public internet' },
    ]);
    expect(puts()).toEqual([]);
  });

  test('is counted if the secrets cannot be decrypted', async () => {
    const destination = await open();
    await fixture.context.store.destinations.put({
      ...destination,
      secrets: 'x.AAAA',
      revision: 2,
    });
    await endedJob('warehouse');
    await fixture.poll();
    expect(await files()).toMatchObject([
      {
        state: 'pending',
        attempts: 1,
        error: expect.stringContaining('lost the key of the secrets'),
      },
    ]);
  });

  test('is not counted while the result storage is unavailable', async () => {
    await open();
    const { openResults } = fixture.context;
    await endedJob('warehouse');
    const { Fault } = await import('../contract/fault.ts');
    fixture.context.openResults = (...job) => ({
      ...openResults(...job),
      // biome-ignore lint/correctness/useYield: the storage fails before the first byte.
      async *read() {
        throw new Fault('unavailable', 'The file store failed.', { component: 'file store' });
      },
    });
    await fixture.poll();
    expect(await files()).toMatchObject([{ state: 'pending', attempts: 0, revision: 1 }]);
    fixture.context.openResults = openResults;
    await fixture.jobs.clock.advance(120_000);
    await fixture.poll();
    expect(await files()).toMatchObject([{ state: 'delivered', attempts: 1, revision: 2 }]);
  });
});
