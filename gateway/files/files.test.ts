import { afterAll, beforeAll, expect, test } from 'vitest';
import { Fault } from '../../src/base/fault.ts';
import { memoryFiles, recordedCaller, startTestGateway, type TestGateway } from '../fixture/gateway.ts';
import { contentTypeOf } from './files.ts';

const content = '0123456789'.repeat(10);
const files = {
  'job/full.json': content,
  'job/a.jsonl.gz': 'zipped',
  'job/empty.csv': '',
  'job/ünï "x".csv': 'x',
};
// Stands for signed links: `?good` is one, `?owner=…` one that needs the owner's key.
const verifyLink = (link: string) => {
  const url = new URL(link, 'http://gleaner.test');
  if (!url.searchParams.has('good')) throw new Fault('link_invalid', 'The link is not valid');
  const path = decodeURIComponent(url.pathname).replace(/^(\/v1)?\/files\//, '');
  const userId = url.searchParams.get('owner') ?? '';
  return { path, fileName: path.slice(path.lastIndexOf('/') + 1), bearer: userId !== '', userId };
};
let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway({
    caller: recordedCaller({}).caller,
    files: memoryFiles(files),
    verifyLink,
  });
});
afterAll(() => gateway.close(0));

const get = (path: string, headers: Record<string, string> = {}, key: string | null = null, method = 'GET') =>
  gateway.ask(path, { headers, key, method });

test('serves a signed file whole, in both address forms, to be saved', async () => {
  for (const path of ['/files/job/full.json?good', '/v1/files/job/full.json?good']) {
    const response = await get(path);
    expect([response.status, await response.text()]).toEqual([200, content]);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'accept-ranges': 'bytes',
      'content-disposition': 'attachment; filename="full.json"',
      'content-length': '100',
      'content-type': 'application/json',
    });
  }
});

test('serves ranges, and says which one', async () => {
  const response = await get('/files/job/full.json?good', { range: 'bytes=5-7' });
  expect([response.status, await response.text()]).toEqual([206, '567']);
  expect(response.headers.get('content-range')).toBe('bytes 5-7/100');
  expect(response.headers.get('content-length')).toBe('3');
  const beyond = await get('/files/job/full.json?good', { range: 'bytes=100-' });
  expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, 'bytes */100']);
  expect(await beyond.json()).toEqual({ detail: expect.any(String) });
});

test('If-Range asks for the part only of the same file, If-None-Match for nothing', async () => {
  const tag = (await get('/files/job/full.json?good')).headers.get('etag')!;
  const same = await get('/files/job/full.json?good', { range: 'bytes=0-1', 'if-range': tag });
  const other = await get('/files/job/full.json?good', { range: 'bytes=0-1', 'if-range': '"other"' });
  expect([same.status, other.status]).toEqual([206, 200]);
  expect((await get('/files/job/full.json?good', { 'if-none-match': `"x", W/${tag}` })).status).toBe(304);
});

test('HEAD tells size and type without the file', async () => {
  const response = await get('/files/job/full.json?good', { range: 'bytes=0-9' }, null, 'HEAD');
  expect([response.status, response.headers.get('content-length'), await response.text()]).toEqual([
    206,
    '10',
    '',
  ]);
});

test('gzip is the file’s own form, not an encoding of the transfer', async () => {
  const response = await get('/files/job/a.jsonl.gz?good');
  expect([response.headers.get('content-type'), response.headers.get('content-encoding')]).toEqual([
    'application/gzip',
    null,
  ]);
  expect(['a.json', 'a.jsonl', 'a.csv', 'a.bin'].map(contentTypeOf)).toEqual([
    'application/json',
    'application/x-ndjson',
    'text/csv; charset=utf-8',
    'application/octet-stream',
  ]);
});

test('an empty file and a name of any characters are served', async () => {
  const empty = await get('/files/job/empty.csv?good');
  expect([empty.status, empty.headers.get('content-length'), await empty.text()]).toEqual([200, '0', '']);
  const odd = await get(`/files/job/${encodeURIComponent('ünï "x".csv')}?good`);
  expect(odd.headers.get('content-disposition')).toBe(
    `attachment; filename="_n_ _x_.csv"; filename*=UTF-8''%C3%BCn%C3%AF%20%22x%22.csv`,
  );
});

test('a link that is not valid is 403, a file that is gone 404', async () => {
  for (const [path, status] of [
    ['/files/job/full.json', 403],
    ['/files/job/none.json?good', 404],
    ['/files', 404],
  ] as const) {
    const response = await get(path);
    expect([response.status, await response.json()]).toEqual([status, { detail: expect.any(String) }]);
  }
  expect((await get('/files/job/full.json?good', {}, null, 'POST')).status).toBe(405);
});

test('a link for its owner needs the key: 401 without, 404 for another user', async () => {
  const link = '/files/job/full.json?good&owner=ann';
  expect((await get(link)).status).toBe(401);
  expect((await get(link, {}, 'nobody')).status).toBe(401);
  expect((await get(link, {}, 'key-bob')).status).toBe(404);
  expect((await get(link, {}, 'key-ann')).status).toBe(200);
});

test('files of a storage engine with links of its own are redirected to, after the same check', async () => {
  const redirecting = await startTestGateway({
    files: memoryFiles(files, (path) => `https://bucket.test/${path}?x`),
    verifyLink,
  });
  const link = '/files/job/full.json?good&owner=ann';
  expect((await redirecting.ask(link, { key: null })).status).toBe(401);
  expect((await redirecting.ask(link, { key: 'key-bob' })).status).toBe(404);
  const found = await redirecting.ask(link);
  expect([found.status, found.headers.get('location')]).toEqual([302, 'https://bucket.test/job/full.json?x']);
  const kept = await redirecting.ask(link, { headers: { prefer: 'respond-async, no-redirect' } });
  expect([kept.status, await kept.text()]).toEqual([200, content]);
  await redirecting.close(0);
});
