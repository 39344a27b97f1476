import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { findEngine } from '../../../test/engines/missing.ts';
import { startS3 } from '../../../test/engines/s3.ts';
import { slack } from '../../../test/support/time/until.ts';
import { ConfigError } from '../../base/config.ts';
import { blobsConformance, chunksOf } from '../conformance.ts';
import { openS3 } from './open.ts';

const server = await findEngine(startS3());
const absent = 'missing' in server ? server.missing : null;
const url = 'missing' in server ? '' : server.url;
const away = 'http://key:secret@127.0.0.1:1/results';

afterAll(async () => {
  if (!('missing' in server)) await server.stop();
});

describe.skipIf(absent)(`on an S3 storage${absent ? ` (${absent})` : ''}`, () => {
  blobsConformance(async () => {
    const blobs = openS3({ url });
    return { blobs, remove: () => blobs.close() };
  });

  test('a presigned link serves the file under its name without credentials', async () => {
    const blobs = openS3({ url });
    await blobs.write('job-1/kết quả.json', 'application/json', chunksOf('{"a":1}'), () => 1);
    const link = (await blobs.presign('job-1/kết quả.json', 'kết quả.json', 604_800))!;
    const response = await fetch(link);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('content-disposition')).toBe(
      `attachment; filename="k?t qu?.json"; filename*=UTF-8''k%E1%BA%BFt%20qu%E1%BA%A3.json`,
    );
    expect(await response.text()).toBe('{"a":1}');
    const part = await fetch(link, { headers: { range: 'bytes=1-3' } });
    expect([part.status, await part.text()]).toEqual([206, '"a"']);
    expect((await fetch(link.replace('quả', 'qu%E1%BA%A3').replace('job-1', 'job-2'))).status).toBe(
      403,
    );
    await blobs.close();
  });

  test('a presigned link uses the public URL', async () => {
    const blobs = openS3({ url: `${url}?public=https://files.example.org` });
    expect(await blobs.presign('job/file', 'file', 60)).toMatch(
      /^https:\/\/files\.example\.org\/results\/job\/file\?/,
    );
    await blobs.close();
  });

  test('removeJob() removes more files than one listing returns', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'gleaner-s3-'));
    const storage = await startS3({ directory });
    if ('missing' in storage) throw new Error(storage.missing);
    // The test server serves the files of its folder.
    const folder = join(directory, 'data', 'results', 'many');
    mkdirSync(folder);
    for (let index = 0; index < 1_050; index += 1)
      writeFileSync(join(folder, `${index}.json`), '{}');
    const blobs = openS3({ url: storage.url });
    expect(await blobs.size('many/1049.json')).toBe(2);
    await blobs.removeJob('many');
    expect(existsSync(folder) ? readdirSync(folder) : []).toEqual([]);
    await blobs.close();
    await storage.stop();
    rmSync(directory, { recursive: true });
  });

  test('a missing bucket and wrong credentials are reported as unavailable', async () => {
    for (const wrong of [
      url.replace('/results', '/elsewhere'),
      url.replace('gleaner:', 'someone:'),
    ]) {
      const blobs = openS3({ url: wrong });
      const unavailable = { code: 'unavailable', clientMessage: 'The file store is unavailable.' };
      await expect(blobs.ping()).rejects.toMatchObject(unavailable);
      await expect(
        blobs.write('job/file', 'text/plain', chunksOf('x'), () => 1),
      ).rejects.toMatchObject(unavailable);
      await expect(blobs.read('job/file')).rejects.toMatchObject(unavailable);
      await expect(blobs.size('job/file')).rejects.toMatchObject(unavailable);
      await blobs.close();
    }
  });

  test('resumes after the storage is killed and restarted', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'gleaner-s3-'));
    const first = await startS3({ directory });
    if ('missing' in first) throw new Error(first.missing);
    const blobs = openS3({ url: first.url });
    await blobs.write('job/file', 'text/plain', chunksOf('kept'), () => 1);
    await first.kill();
    await expect(blobs.ping()).rejects.toMatchObject({ code: 'unavailable' });
    const second = await startS3({ directory, port: first.port });
    if ('missing' in second) throw new Error(second.missing);
    await blobs.ping();
    expect(await blobs.size('job/file')).toBe(4);
    await blobs.close();
    await second.stop();
    rmSync(directory, { recursive: true });
  });
});

test('calls fail soon while the storage is down', async () => {
  const blobs = openS3({ url: away });
  const before = Date.now();
  const unavailable = { code: 'unavailable', clientMessage: 'The file store is unavailable.' };
  await expect(blobs.ping()).rejects.toMatchObject(unavailable);
  await expect(blobs.write('job/file', 'text/plain', chunksOf('x'), () => 1)).rejects.toMatchObject(
    unavailable,
  );
  await expect(blobs.read('job/file')).rejects.toMatchObject(unavailable);
  await expect(blobs.size('job/file')).rejects.toMatchObject(unavailable);
  await expect(blobs.removeJob('job')).rejects.toMatchObject(unavailable);
  expect(Date.now() - before).toBeLessThan(10_000 * slack);
  await blobs.close();
});

test('ping() fails within seconds if the storage accepts connections but never responds', async () => {
  const silent = createServer((socket) => socket.resume());
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const address = silent.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const blobs = openS3({ url: `http://key:secret@127.0.0.1:${port}/results` });
  await expect(blobs.ping()).rejects.toMatchObject({ code: 'unavailable' });
  await blobs.close();
  await new Promise((resolve) => silent.close(resolve));
});

describe('a response of another service than the storage', () => {
  const closing: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });

  /** Opens a storage that responds with this function. */
  async function openAt(respond: RequestListener) {
    const http = createHttpServer((request, response) => {
      request.resume();
      respond(request, response);
    });
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    const { port } = http.address() as AddressInfo;
    const storage = `http://key:secret@127.0.0.1:${port}/results`;
    const blobs = openS3({ url: storage, responseTimeoutMs: 50 });
    closing.push(async () => {
      await blobs.close();
      http.closeAllConnections();
      http.close();
    });
    return blobs;
  }
  const unavailable = { code: 'unavailable', clientMessage: 'The file store is unavailable.' };

  test.each([
    ['a connection lost before the last byte', { 'content-length': '100' }],
    ['a connection lost before the last chunk', {}],
  ])('%s is unavailable', async (_, headers) => {
    const blobs = await openAt((_request, response) => {
      response.writeHead(200, { ...headers, etag: '"a"' });
      response.write('x'.repeat(50), () => response.socket!.destroy());
    });
    await expect(text(await blobs.read('job/file'))).rejects.toMatchObject(unavailable);
  });

  test('an object that pauses is unavailable, and one whose reader pauses is not', async () => {
    const megabyte = 'x'.repeat(1_000_000);
    const blobs = await openAt(({ url = '' }, response) => {
      response.writeHead(200, { 'content-length': '4000000', etag: '"a"' });
      response.write(megabyte);
      if (url.includes('/whole')) response.end(megabyte.repeat(3));
    });
    const whole = await blobs.read('job/whole');
    await expect(text(await blobs.read('job/stalled'))).rejects.toMatchObject(unavailable);
    expect(await text(whole)).toHaveLength(4_000_000);
  });

  test('a list that pauses is unavailable', async () => {
    const blobs = await openAt((_request, response) => {
      response.writeHead(200).write('<ListBucketResult><IsTruncated>');
    });
    await expect(blobs.listJob('job')).rejects.toMatchObject(unavailable);
  });

  test.each([
    ['an empty response', ''],
    ['a page of a proxy', '<html><body>Maintenance</body></html>'],
    [
      'a list without its rest',
      '<ListBucketResult><IsTruncated>true</IsTruncated><Contents><Key>job/a</Key></Contents></ListBucketResult>',
    ],
  ])('%s neither lists nor removes files', async (_, body) => {
    const blobs = await openAt((_request, response) => response.writeHead(200).end(body));
    await expect(blobs.listJob('job')).rejects.toMatchObject(unavailable);
    await expect(blobs.remove(['job/a'])).rejects.toMatchObject(unavailable);
  });

  test('a list that never ends is unavailable', async () => {
    const next = '<IsTruncated>true</IsTruncated><NextContinuationToken>1</NextContinuationToken>';
    const body = `<ListBucketResult>${next}<Contents><Key>job/a</Key></Contents></ListBucketResult>`;
    const blobs = await openAt((_request, response) => response.writeHead(200).end(body));
    await expect(blobs.listJob('job')).rejects.toMatchObject(unavailable);
  });

  test('a response that does not name every file has not removed it', async () => {
    const body = '<DeleteResult><Deleted><Key>job/a</Key></Deleted></DeleteResult>';
    const blobs = await openAt((_request, response) => response.writeHead(200).end(body));
    await blobs.remove(['job/a']);
    await expect(blobs.remove(['job/a', 'job/b'])).rejects.toMatchObject(unavailable);
  });

  test.each(['', '404 page not found', '<html><body>no route</body></html>'])(
    'a 404 without a code is unavailable: %j',
    async (body) => {
      const blobs = await openAt((_request, response) => response.writeHead(404).end(body));
      await expect(blobs.read('job/file')).rejects.toMatchObject(unavailable);
      await expect(blobs.size('job/file')).rejects.toMatchObject(unavailable);
    },
  );

  test.each([
    ['a login page', {}, undefined],
    ['a login page instead of a range', {}, { start: 2, end: 5 }],
    ['a whole object instead of a range', { etag: '"a"' }, { start: 2, end: 5 }],
    ['another range', { etag: '"a"', 'content-range': 'bytes 0-3/9' }, { start: 2, end: 5 }],
  ])('%s is unavailable, not a damaged file', async (_, headers, range) => {
    const blobs = await openAt((_request, response) =>
      response.writeHead(200, headers).end('<html><body>Log in</body></html>'),
    );
    await expect(blobs.read('job/file', range)).rejects.toMatchObject(unavailable);
  });

  test('a login page has no size', async () => {
    const blobs = await openAt((_request, response) =>
      response.writeHead(200, { 'content-length': '9' }).end('<html>Log'),
    );
    await expect(blobs.size('job/file')).rejects.toMatchObject(unavailable);
  });

  test('a link has the time of the storage if the clock of this host is wrong', async () => {
    const time = new Date(Date.now() + 7_200_000);
    const blobs = await openAt((_request, response) =>
      response.writeHead(200, { date: time.toUTCString() }).end(),
    );
    await blobs.ping();
    const link = await blobs.presign('job/file', 'file', 60);
    const signedAt = new URL(link!).searchParams
      .get('X-Amz-Date')!
      .replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5');
    expect(Math.abs(Date.parse(signedAt) - time.getTime())).toBeLessThan(60_000);
  });

  test('a file without a stated size has no size of 0', async () => {
    const blobs = await openAt((_request, response) =>
      response.writeHead(200, { 'transfer-encoding': 'chunked', etag: '"a"' }).end(),
    );
    await expect(blobs.size('job/file')).rejects.toMatchObject(unavailable);
  });

  test('reads and removals fail if no response starts', async () => {
    const blobs = await openAt(() => {});
    await expect(blobs.read('job/file')).rejects.toMatchObject(unavailable);
    await expect(blobs.size('job/file')).rejects.toMatchObject(unavailable);
    await expect(blobs.listJob('job')).rejects.toMatchObject(unavailable);
    await expect(blobs.remove(['job/file'])).rejects.toMatchObject(unavailable);
  });
});

test('openS3() throws ConfigError for an invalid URL', () => {
  expect(() => openS3({ url: 'http://host' })).toThrow(ConfigError);
});
