import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { DestinationService } from '../../../gen/gleaner/destination/v1/destination_pb.ts';
import { startS3 } from '../../../test/engines/s3.ts';
import { type JobFixture, openJobFixture } from '../../../test/support/jobs/jobs.ts';
import { type CoreCaller, openCore, type TestCore } from '../../../test/support/rpc/core.ts';
import { startReceiver, type WebhookReceiver } from '../../../test/support/servers/receiver.ts';
import { openS3 } from '../../blobs/s3/open.ts';
import { createDestinations } from '../../destinations/destinations.ts';
import { listAuditEntries } from '../../store/audit-log.ts';

const {
  createDestination,
  listDestinations,
  getDestination,
  updateDestination,
  testDestination,
  deleteDestination,
} = DestinationService.method;

let fixture: JobFixture;
let receiver: WebhookReceiver;
let core: TestCore;
let userId: string;
let user: CoreCaller;
beforeEach(async () => {
  receiver = await startReceiver();
  fixture = await openJobFixture();
  core = await openCore(fixture.context);
  userId = await fixture.createUser(0);
  user = (await core.createKey(userId)).caller;
  return async () => {
    await fixture.close();
    await receiver.close();
  };
});

const headers = [{ name: 'Authorization', value: 'Bearer hidden-value' }];
const https = () => ({
  name: 'inbox',
  type: 'https',
  url: receiver.url,
  headers,
  query: 'sig=hidden-query',
});

/** Everything that is stored of the destinations and calls of a user, as text. */
const storedText = async () =>
  JSON.stringify([
    await fixture.context.store.destinations.find({ userId }),
    await listAuditEntries(fixture.context.store, {}, { limit: 100 }),
  ]);

describe('destinations of the type https', () => {
  test('are created after a test object was written and deleted, without showing their secrets', async () => {
    const { destination } = await user.call(createDestination, https());
    expect(destination).toMatchObject({
      name: 'inbox',
      type: 'https',
      url: `${receiver.url}/`,
      headerNames: ['authorization'],
      bucket: '',
      format: 'json',
      path: '{market}/{kind}/{date}/{job_id}.{ext}',
    });
    const path = `/hook/gleaner-test-${destination!.destinationId}.txt?sig=hidden-query`;
    expect(receiver.received).toMatchObject([
      { path, headers: { authorization: 'Bearer hidden-value', 'content-length': '64' } },
      { path, body: '' },
    ]);
    const { destinations } = await user.call(listDestinations, {});
    expect(destinations).toEqual([destination]);
    expect(
      await user.call(getDestination, { destinationId: destination!.destinationId }),
    ).toMatchObject({
      destination: { name: 'inbox' },
    });
    expect(await storedText()).not.toContain('hidden');
    const [entry] = (await listAuditEntries(fixture.context.store, {}, { limit: 1 })).items;
    expect(entry).toMatchObject({
      action: 'CreateDestination',
      target: destination!.destinationId,
    });
    expect(JSON.parse(entry!.detail)).toEqual({
      name: 'inbox',
      type: 'https',
      url: receiver.url,
      headers: 'redacted',
      query: 'redacted',
    });
  });

  test('may have headers with the names of members of objects', async () => {
    const names = ['Constructor', '__proto__'];
    const headers = names.map((name) => ({ name, value: 'x' }));
    const { destination } = await user.call(createDestination, { ...https(), headers });
    expect(destination!.headerNames).toEqual(['constructor', '__proto__']);
    expect(receiver.received[0]!.headers).toMatchObject({ constructor: 'x' });
  });

  test.each([403, 301, 500])(
    'are refused if the test object is answered with %i',
    async (status) => {
      receiver.respondWith((_request, response) =>
        response.writeHead(status, { location: '/x' }).end('no entry'),
      );
      const problem = { code: 'invalid', problems: [{ loc: ['body', 'url'] }] };
      await expect(user.call(createDestination, https())).rejects.toMatchObject(problem);
      await expect(user.call(createDestination, https())).rejects.toThrow(
        `Cannot write a test object: HTTP ${status}: `,
      );
      expect((await user.call(listDestinations, {})).destinations).toEqual([]);
    },
  );

  test('may refuse to delete the test object with 405, not with 403', async () => {
    let status = 405;
    receiver.respondWith((request, response) =>
      response.writeHead(request.method === 'DELETE' ? status : 201).end(),
    );
    await user.call(createDestination, https());
    status = 403;
    await expect(user.call(createDestination, { ...https(), name: 'b' })).rejects.toThrow(
      'Cannot delete a test object: HTTP 403',
    );
  });

  test.each([
    [{ url: 'ftp://files.example' }, 'url'],
    [{ url: 'https://ann:x@files.example/' }, 'url'],
    [{ url: 'https://files.example/?sig=x' }, 'url'],
    [{ path: '../{job_id}' }, 'path'],
    [{ path: '{date}.{ext}' }, 'path'],
    [{ bucket: 'results' }, 'bucket'],
    [{ secretKey: 'x' }, 'secret_key'],
    [{ headers: [{ name: 'Host', value: 'x' }] }, 'headers'],
    [{ headers: [...headers, { name: 'authorization', value: 'y' }] }, 'headers'],
  ])('are refused with %j', async (fields, field) => {
    await expect(user.call(createDestination, { ...https(), ...fields })).rejects.toMatchObject({
      code: 'invalid',
      problems: [{ loc: ['body', field] }],
    });
    expect(receiver.received).toEqual([]);
  });

  test('must be on the public internet and use https', async () => {
    const { clock } = fixture.context;
    fixture.context.destinations = createDestinations({
      box: fixture.context.destinations.box,
      allowPrivate: false,
      now: () => clock.now(),
    });
    core = await openCore(fixture.context);
    user = (await core.createKey(userId)).caller;
    const url = (text: string) => user.call(createDestination, { ...https(), url: text });
    await expect(url('http://files.example/')).rejects.toThrow('The URL must use https');
    for (const text of [
      receiver.url,
      'https://10.0.0.8/',
      'https://[::1]/',
      'https://metadata.internal/',
    ])
      await expect(url(text)).rejects.toThrow('is not on the public internet');
    await expect(url('https://files.example:22/')).rejects.toThrow('port 22');
    expect(receiver.received).toEqual([]);
  });

  test('keep their secrets when they are changed, unless the URL changes', async () => {
    const { destination } = await user.call(createDestination, https());
    const { destinationId } = destination!;
    const kept = {
      destinationId,
      name: 'renamed',
      url: `${receiver.url}/`,
      format: 'csv',
      path: '{job_id}',
    };
    const changed = await user.call(updateDestination, kept);
    expect(changed.destination).toMatchObject({ name: 'renamed', format: 'csv', path: '{job_id}' });
    expect(receiver.received.at(-1)!.headers.authorization).toBe('Bearer hidden-value');
    expect(receiver.received.at(-1)!.path).toContain('sig=hidden-query');
    const moved = { ...kept, url: `${receiver.url}/other` };
    await expect(user.call(updateDestination, moved)).rejects.toMatchObject({
      problems: [{ loc: ['body', 'headers'] }, { loc: ['body', 'query'] }],
    });
    await user.call(updateDestination, { ...moved, clearSecrets: true });
    expect(receiver.received.at(-1)!.headers.authorization).toBeUndefined();
    expect(receiver.received.at(-1)!.path).not.toContain('hidden');
  });

  test('belong to their user, whose names are unique', async () => {
    const { destination } = await user.call(createDestination, https());
    const { destinationId } = destination!;
    await expect(user.call(createDestination, https())).rejects.toMatchObject({ code: 'conflict' });
    const other = (await core.createKey(await fixture.createUser(0))).caller;
    await other.call(createDestination, https());
    const unknown = { code: 'not_found' };
    await expect(other.call(getDestination, { destinationId })).rejects.toMatchObject(unknown);
    await expect(other.call(testDestination, { destinationId })).rejects.toMatchObject(unknown);
    await expect(other.call(deleteDestination, { destinationId })).rejects.toMatchObject(unknown);
    const change = { destinationId, name: 'x', url: receiver.url };
    await expect(other.call(updateDestination, change)).rejects.toMatchObject(unknown);
    await user.call(createDestination, { ...https(), name: 'second' });
    await expect(user.call(updateDestination, { ...change, name: 'second' })).rejects.toThrow(
      "There is another destination with the name 'second'.",
    );
    await user.call(deleteDestination, { destinationId });
    await expect(user.call(deleteDestination, { destinationId })).rejects.toMatchObject(unknown);
  });

  test('are tested on request, and report the response', async () => {
    const { destination } = await user.call(createDestination, https());
    const { destinationId } = destination!;
    const target = `${receiver.url}/gleaner-test-${destinationId}.txt`;
    expect(await user.call(testDestination, { destinationId })).toMatchObject({
      ok: true,
      target,
      error: '',
    });
    receiver.respondWith((_request, response) => response.writeHead(401).end('expired'));
    expect(await user.call(testDestination, { destinationId })).toMatchObject({
      ok: false,
      error: 'Cannot write a test object: HTTP 401: expired',
    });
  });
});

const s3 = await startS3();
describe.skipIf('missing' in s3)(`buckets${'missing' in s3 ? ` (${s3.missing})` : ''}`, () => {
  if ('missing' in s3) return;
  afterAll(() => s3.stop());
  const bucket = {
    name: 'warehouse',
    type: 's3',
    url: `http://127.0.0.1:${s3.port}`,
    bucket: 'results',
    prefix: 'team/gleaner/',
    accessKey: 'gleaner',
    secretKey: 'gleaner/secret',
  };

  test('are created after a test object was written and deleted', async () => {
    const { destination } = await user.call(createDestination, bucket);
    expect(destination).toMatchObject({
      type: 's3',
      bucket: 'results',
      region: 'us-east-1',
      prefix: 'team/gleaner',
      accessKey: 'gleaner',
    });
    expect(await storedText()).not.toContain('gleaner/secret');
    const reader = openS3({ url: s3.url });
    expect(await reader.listJob('team')).toEqual([]);
    await reader.close();
    const { destinationId } = destination!;
    expect(await user.call(testDestination, { destinationId })).toMatchObject({
      ok: true,
      target: `s3://results/team/gleaner/gleaner-test-${destinationId}.txt`,
    });
    // The stored secret is used.
    const { name, url, accessKey } = bucket;
    await user.call(updateDestination, { destinationId, name, url, bucket: 'results', accessKey });
  });

  test.each([
    [{ secretKey: 'wrong' }, 'HTTP 403: SignatureDoesNotMatch'],
    [{ bucket: 'absent' }, 'HTTP 404: NoSuchBucket'],
    [{ url: 'http://127.0.0.1:1' }, 'ECONNREFUSED'],
  ])('are refused with the response of the service: %j', async (fields, message) => {
    await expect(user.call(createDestination, { ...bucket, ...fields })).rejects.toThrow(message);
    expect((await user.call(listDestinations, {})).destinations).toEqual([]);
  });

  test.each([
    [{ bucket: '' }, 'bucket'],
    [{ accessKey: '' }, 'access_key'],
    [{ secretKey: '' }, 'secret_key'],
    [{ url: 'https://s3.example/results' }, 'url'],
    [{ prefix: '../x' }, 'prefix'],
    [{ headers }, 'headers'],
    [{ query: 'x' }, 'query'],
  ])('are refused with %j', async (fields, field) => {
    await expect(user.call(createDestination, { ...bucket, ...fields })).rejects.toMatchObject({
      problems: [{ loc: ['body', field] }],
    });
  });
});
