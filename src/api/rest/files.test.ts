import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { TestGateway } from '../../../gateway/fixture/gateway.ts';
import { Fault } from '../../contract/fault.ts';
import { createConversions } from './conversions.ts';
import { contentTypeOf, type ExportFile } from './files.ts';
import { memoryFiles, recordedCaller, startTestApi } from './fixture.ts';

const content = '0123456789'.repeat(10);
const files = {
  'job/full.json': content,
  'job/a.jsonl.gz': 'zipped',
  'job/empty.csv': '',
  'job/ünï "x".csv': 'x',
};
// Fake signed links: `?good` is valid, `?owner=…` also requires the owner's key.
const verifyLink = (link: string) => {
  const url = new URL(link, 'http://gleaner.test');
  if (!url.searchParams.has('good')) throw new Fault('link_invalid', 'The link is not valid');
  const path = decodeURIComponent(url.pathname).replace(/^(\/v1)?\/files\//, '');
  const userId = url.searchParams.get('owner') ?? '';
  return { path, fileName: path.slice(path.lastIndexOf('/') + 1), bearer: userId !== '', userId };
};
const exportFile: ExportFile = async (path, { format, only }) => {
  if (format !== 'csv') throw Fault.invalid(['query', 'format'], 'unknown', 'enum');
  const bytes = async function* () {
    yield Buffer.from(`path\r\n${path}${only}\r\n`);
  };
  return { contentType: 'text/csv; charset=utf-8', fileName: 'full.csv', bytes: bytes() };
};
let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestApi({
    caller: recordedCaller({}).caller,
    files: memoryFiles(files),
    verifyLink,
    exportFile,
  });
});
afterAll(() => gateway.close(0));

const get = (
  path: string,
  headers: Record<string, string> = {},
  key: string | null = null,
  method = 'GET',
) => gateway.ask(path, { headers, key, method });

test('serves a signed file as an attachment, in both path forms', async () => {
  for (const path of ['/files/job/full.json?good', '/v1/files/job/full.json?good']) {
    const response = await get(path);
    expect([response.status, await response.text()]).toEqual([200, content]);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'accept-ranges': 'bytes',
      'cache-control': 'private, max-age=3600',
      'content-disposition': 'attachment; filename=full.json',
      'content-length': '100',
      'content-type': 'application/json',
    });
  }
});

test('serves ranges with Content-Range', async () => {
  const response = await get('/files/job/full.json?good', { range: 'bytes=5-7' });
  expect([response.status, await response.text()]).toEqual([206, '567']);
  expect(response.headers.get('content-range')).toBe('bytes 5-7/100');
  expect(response.headers.get('content-length')).toBe('3');
  const beyond = await get('/files/job/full.json?good', { range: 'bytes=100-' });
  expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, 'bytes */100']);
  expect(await beyond.json()).toMatchObject({
    detail: 'The file has 100 bytes, the range is outside of them',
    code: 'range_not_satisfiable',
  });
});

test('evaluates If-Range and If-None-Match', async () => {
  const tag = (await get('/files/job/full.json?good')).headers.get('etag')!;
  const same = await get('/files/job/full.json?good', { range: 'bytes=0-1', 'if-range': tag });
  const other = await get('/files/job/full.json?good', {
    range: 'bytes=0-1',
    'if-range': '"other"',
  });
  expect([same.status, other.status]).toEqual([206, 200]);
  expect(
    (await get('/files/job/full.json?good', { 'if-none-match': `"x", W/${tag}` })).status,
  ).toBe(304);
});

test('evaluates If-Match by strong comparison', async () => {
  const link = '/files/job/full.json?good';
  const tag = (await get(link)).headers.get('etag')!;
  const statusOf = async (path: string, header: string) =>
    (await get(path, { 'if-match': header })).status;
  expect(await statusOf(link, tag)).toBe(200);
  expect(await statusOf(link, `"x", ${tag}`)).toBe(200);
  expect(await statusOf(link, '*')).toBe(200);
  expect(await statusOf(link, `W/${tag}`)).toBe(412);
  const other = await get(link, { 'if-match': '"x"', 'if-none-match': tag, range: 'bytes=0-1' });
  expect([other.status, await other.json()]).toMatchObject([412, { code: 'precondition_failed' }]);
  const converted = (await get(`${link}&format=csv`)).headers.get('etag')!;
  expect(await statusOf(`${link}&format=csv`, converted)).toBe(200);
  expect(await statusOf(`${link}&format=csv`, `W/${converted}`)).toBe(412);
  expect(await statusOf(`${link}&format=csv`, '*')).toBe(200);
});

test('responds to HEAD with size and type', async () => {
  const response = await get('/files/job/full.json?good', { range: 'bytes=0-9' }, null, 'HEAD');
  expect([response.status, response.headers.get('content-length'), await response.text()]).toEqual([
    206,
    '10',
    '',
  ]);
});

test('responds to HEAD and for an empty file without opening the file', async () => {
  const opened: string[] = [];
  const kept = memoryFiles(files);
  const served = await startTestApi({
    files: {
      ...kept,
      read: (path, range) => {
        opened.push(path);
        return kept.read(path, range);
      },
    },
    verifyLink,
  });
  const statusOf = async (path: string, method: string) =>
    (await served.ask(`/files/job/${path}?good`, { key: null, method })).status;
  expect([await statusOf('full.json', 'HEAD'), await statusOf('empty.csv', 'GET')]).toEqual([
    200, 200,
  ]);
  expect(opened).toEqual([]);
  expect(await statusOf('full.json', 'GET')).toBe(200);
  expect(opened).toEqual(['job/full.json']);
  await served.close(0);
});

test('serves gzip files without Content-Encoding', async () => {
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

test('serves an empty file', async () => {
  const empty = await get('/files/job/empty.csv?good');
  expect([empty.status, empty.headers.get('content-length'), await empty.text()]).toEqual([
    200,
    '0',
    '',
  ]);
});

test.each([
  ['plain name.json', 'attachment; filename="plain name.json"'],
  ['a"b\\c.csv', String.raw`attachment; filename="a\"b\\c.csv"`],
  ["é'(1)*.csv", `attachment; filename="?'(1)*.csv"; filename*=UTF-8''%C3%A9%27%281%29%2A.csv`],
  ['\ud800.csv', `attachment; filename="?.csv"; filename*=UTF-8''%EF%BF%BD.csv`],
  ['a\r\nb', `attachment; filename="a??b"; filename*=UTF-8''a%0D%0Ab`],
])('serves a file to be saved as %j', async (fileName, header) => {
  const served = await startTestApi({
    files: memoryFiles({ 'job/a': 'x' }),
    verifyLink: () => ({ path: 'job/a', fileName, bearer: false, userId: '' }),
  });
  const response = await served.ask('/files/job/a', { key: null });
  expect([response.status, response.headers.get('content-disposition')]).toEqual([200, header]);
  await served.close(0);
});

test('derives the entity tag from path and size', async () => {
  const sizes = { 'job/a.json': '12', 'job/b.json': '12', 'job/c.json': '123' };
  const served = await startTestApi({ files: memoryFiles(sizes), verifyLink });
  const tagOf = async (path: string) =>
    (await served.ask(`/files/job/${path}.json?good`, { key: null })).headers.get('etag');
  const tags = [await tagOf('a'), await tagOf('b'), await tagOf('c')];
  expect(new Set(tags).size).toBe(3);
  for (const tag of tags) expect(tag).toMatch(/^"[\w-]{27}"$/);
  expect(await tagOf('a')).toBe(tags[0]);
  await served.close(0);
});

test('sends Vary for text files only, and encodes from 1,024 bytes', async () => {
  const texts = {
    'job/short.csv': 'x'.repeat(1023),
    'job/long.csv': 'x'.repeat(1024),
    'job/a.gz': content,
  };
  const served = await startTestApi({ files: memoryFiles(texts), verifyLink });
  const headersOf = async (path: string, range: Record<string, string> = {}) => {
    const response = await served.ask(`/files/job/${path}?good`, {
      key: null,
      headers: { 'accept-encoding': 'gzip', ...range },
    });
    const { headers } = response;
    if (path === 'long.csv' && response.status === 200) {
      expect(await response.text()).toBe(texts['job/long.csv']);
      expect(headers.get('etag')).toMatch(/^W\/"/);
    }
    return [headers.get('vary'), headers.get('content-encoding'), headers.get('content-length')];
  };
  expect(await headersOf('short.csv')).toEqual(['accept-encoding', null, '1023']);
  expect(await headersOf('long.csv')).toEqual(['accept-encoding', 'gzip', null]);
  expect(await headersOf('long.csv', { range: 'bytes=0-' })).toEqual([
    'accept-encoding',
    null,
    '1024',
  ]);
  expect(await headersOf('a.gz')).toEqual([null, null, '100']);
  await served.close(0);
});

test('returns 403 for an invalid link and 410 for a deleted file', async () => {
  for (const [path, status] of [
    ['/files/job/full.json', 403],
    ['/files/job/none.json?good', 410],
    ['/files', 404],
  ] as const) {
    const response = await get(path);
    expect([response.status, await response.json()]).toMatchObject([
      status,
      { detail: expect.any(String) },
    ]);
  }
  expect((await get('/files/job/full.json?good', {}, null, 'POST')).status).toBe(405);
});

test('requires the key of the owner for a bearer link: 401 without, 404 for another user', async () => {
  const link = '/files/job/full.json?good&owner=ann';
  expect((await get(link)).status).toBe(401);
  expect((await get(link, {}, 'nobody')).status).toBe(401);
  expect((await get(link, {}, 'key-bob')).status).toBe(404);
  const own = await get(link, {}, 'key-ann');
  expect([own.status, own.headers.get('x-credits-remaining')]).toEqual([200, '500']);
});

describe('files of a storage engine with its own links', () => {
  const link = '/files/job/full.json?good&owner=ann';
  const asked: unknown[] = [];
  let redirecting: TestGateway;
  beforeAll(async () => {
    const kept = memoryFiles(files, (path) => `https://bucket.test/${path}?x`);
    redirecting = await startTestApi({
      files: {
        ...kept,
        presign: (...call) => {
          asked.push(call);
          return kept.presign(...call);
        },
      },
      verifyLink,
    });
  });
  afterAll(() => redirecting.close(0));

  test('are redirected to after the same check', async () => {
    expect((await redirecting.ask(link, { key: null })).status).toBe(401);
    expect((await redirecting.ask(link, { key: 'key-bob' })).status).toBe(404);
    expect(asked).toEqual([]);
    const found = await redirecting.ask(link);
    expect([found.status, await found.text()]).toEqual([302, '']);
    expect(Object.fromEntries(found.headers)).toMatchObject({
      location: 'https://bucket.test/job/full.json?x',
      'cache-control': 'no-store',
      'content-length': '0',
    });
    expect(asked).toEqual([['job/full.json', 'full.json', 60]]);
  });

  test.each([
    ['no-redirect', 200],
    ['respond-async, no-redirect', 200],
    ['respond-async,no-redirect', 200],
    ['no-redirect , respond-async', 200],
    ['No-Redirect; x=1', 200],
    ['no-redirects', 302],
    ['x-no-redirect', 302],
    ['respond-async', 302],
  ])('respond to Prefer: %s with %i', async (prefer, status) => {
    const response = await redirecting.ask(link, { headers: { prefer } });
    expect([response.status, await response.text()]).toEqual([
      status,
      status === 200 ? content : '',
    ]);
  });
});

test('compresses whole text files, but no ranges or archives, under one tag', async () => {
  const text = 'a line of text\n'.repeat(500);
  const texts = { 'job/text.json': text, 'job/text.jsonl.gz': 'x'.repeat(5000) };
  const api = await startTestApi({ files: memoryFiles(texts), verifyLink });
  const ask = async (path: string, headers: Record<string, string> = {}) => {
    const options = { headers: { 'accept-encoding': 'gzip', ...headers }, key: null };
    const response = await api.ask(`/files/job/${path}?good`, options);
    const names = ['content-encoding', 'content-length', 'etag'];
    const [encoding, length, tag] = names.map((name) => response.headers.get(name));
    return { status: response.status, encoding, length, tag, text: await response.text() };
  };
  const whole = await ask('text.json');
  expect(whole).toMatchObject({ status: 200, encoding: 'gzip', length: null, text });
  const plain = await ask('text.json', { 'accept-encoding': 'identity' });
  expect(plain).toMatchObject({ encoding: null, length: '7500', text });
  expect(whole.tag).toBe(`W/${plain.tag}`);
  const part = await ask('text.json', { range: 'bytes=0-4095' });
  expect(part).toMatchObject({ status: 206, encoding: null, text: text.slice(0, 4096) });
  expect((await ask('text.json', { 'if-none-match': whole.tag! })).status).toBe(304);
  expect(await ask('text.jsonl.gz')).toMatchObject({ encoding: null, length: '5000' });
  await api.close(0);
});

describe('a link with a format', () => {
  const link = '/files/job/full.json?good&format=csv';

  test('returns the records under a name of the format', async () => {
    const response = await get(link);
    expect([response.status, await response.text()]).toEqual([200, 'path\r\njob/full.json\r\n']);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'accept-ranges': 'bytes',
      'content-disposition': 'attachment; filename=full.csv',
      'content-length': '21',
      'content-type': 'text/csv; charset=utf-8',
      etag: expect.stringMatching(/^"/),
    });
  });

  test('responds to HEAD with its size, and to GET with a range of it', async () => {
    const head = await get(link, {}, null, 'HEAD');
    expect([head.headers.get('content-length'), head.headers.get('accept-ranges')]).toEqual([
      '21',
      'bytes',
    ]);
    const response = await get(link, { range: 'bytes=4-5' });
    expect([response.status, response.headers.get('content-range'), await response.text()]).toEqual(
      [206, 'bytes 4-5/21', '\r\n'],
    );
    const tag = head.headers.get('etag')!;
    expect((await get(link, { range: 'bytes=0-1', 'if-range': tag })).status).toBe(206);
    expect((await get(link, { range: 'bytes=0-1', 'if-range': '"other"' })).status).toBe(200);
    expect((await get(link, { range: 'bytes=21-' })).status).toBe(416);
  });

  test('has its own ETag, which differs from that of the file, and responds with 304 to it', async () => {
    const [own, file] = await Promise.all([get(link), get('/files/job/full.json?good')]);
    const tag = own.headers.get('etag')!;
    expect(tag.replace('W/', '')).not.toBe(file.headers.get('etag'));
    expect((await get(link, { 'if-none-match': tag })).status).toBe(304);
    expect((await get(link, { 'if-none-match': file.headers.get('etag')! })).status).toBe(200);
  });

  test('requires the owner of a link that requires one', async () => {
    expect((await get('/files/job/full.json?good&owner=u1&format=csv')).status).toBe(401);
  });

  test('responds to HEAD without a body, with 422 for an unknown format, and with 410 for a deleted file', async () => {
    const head = await get(link, {}, null, 'HEAD');
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect((await get('/files/job/full.json?good&format=xlsx')).status).toBe(422);
    expect((await get('/files/job/gone.json?good&format=csv')).status).toBe(410);
  });

  test('returns the records of its filter with another tag, and 422 for a filter without a format', async () => {
    const [all, changed] = [await get(link), await get(`${link}&only=changed`)];
    expect(await changed.text()).toBe(
      (await all.text()).replace('full.json', `full.json${'changed'}`),
    );
    expect(changed.headers.get('etag')).not.toBe(all.headers.get('etag'));
    expect((await get('/files/job/full.json?good&only=changed')).status).toBe(422);
  });

  test('is converted once for any number of requests and ranges', async () => {
    const signals: AbortSignal[] = [];
    const counting: ExportFile = (path, wanted, signal) => {
      signals.push(signal);
      return exportFile(path, wanted, signal);
    };
    const options = { caller: recordedCaller({}).caller, files: memoryFiles(files), verifyLink };
    const api = await startTestApi({ ...options, exportFile: counting });
    const [whole, part] = await Promise.all([
      api.ask(link, { key: null }),
      api.ask(link, { key: null, headers: { range: 'bytes=0-3' } }),
    ]);
    expect([(await whole.text()).slice(0, 4), await part.text()]).toEqual(['path', 'path']);
    const headers = { 'if-none-match': whole.headers.get('etag')! };
    expect((await api.ask(link, { key: null, headers })).status).toBe(304);
    expect((await api.ask(link, { key: null, method: 'HEAD' })).status).toBe(200);
    await api.close(0);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });

  test('is streamed during the conversion if it is too large to cache, and stops with the response', async () => {
    const signals: AbortSignal[] = [];
    const counting: ExportFile = (path, wanted, signal) => {
      signals.push(signal);
      return exportFile(path, wanted, signal);
    };
    const conversions = createConversions({ maxBytes: 20 });
    const options = {
      caller: recordedCaller({}).caller,
      files: memoryFiles(files),
      verifyLink,
      conversions,
    };
    const api = await startTestApi({ ...options, exportFile: counting });
    const response = await api.ask(link, { key: null, headers: { range: 'bytes=0-1' } });
    expect([response.status, await response.text()]).toEqual([200, 'path\r\njob/full.json\r\n']);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'accept-ranges': 'none',
      etag: expect.stringMatching(/^W\/"/),
    });
    const headers = { 'if-none-match': response.headers.get('etag')! };
    expect((await api.ask(link, { key: null, headers })).status).toBe(304);
    expect((await api.ask(link, { key: null, method: 'HEAD' })).status).toBe(200);
    await api.close(0);
    await conversions.close();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, true, true]);
  });

  test('can be requested by the extension of its name', async () => {
    const api = await startTestApi({
      files: memoryFiles(files),
      exportFile,
      verifyLink: () => ({
        path: 'job/full.json',
        fileName: 'full.json',
        bearer: false,
        userId: '',
        format: 'csv',
      }),
    });
    for (const query of ['', '?format=csv', '?only=changed'])
      expect(
        (await api.ask(`/files/job/full.csv${query}`, { key: null })).headers.get('content-type'),
      ).toBe('text/csv; charset=utf-8');
    await api.close(0);
  });
});

test('passes an empty format on to the export, which refuses it, whatever the name of the file', async () => {
  const formats: string[] = [];
  const refusing = await startTestApi({
    files: memoryFiles(files),
    exportFile: async (_, { format }) => {
      formats.push(format);
      throw Fault.invalid(['query', 'format'], 'not a format', 'enum');
    },
    verifyLink: () => ({
      path: 'job/full.json',
      fileName: 'x',
      bearer: false,
      userId: '',
      format: 'csv',
    }),
  });
  const response = await refusing.ask('/files/job/full.csv?format=', { key: null });
  expect([response.status, formats]).toEqual([422, ['']]);
  await refusing.close(0);
});

test.each([
  ['a file', '/files/job/full.json?good'],
  ['an export', '/files/job/full.json?good&format=csv'],
])('a storage that fails before the first byte is an error response: %s', async (_, path) => {
  const unavailable = () => {
    throw new Fault('unavailable', 'The file store failed', { component: 'file store' });
  };
  const failing = await startTestApi({
    caller: recordedCaller({}).caller,
    files: { ...memoryFiles(files), read: async () => unavailable() },
    verifyLink,
    exportFile: async () => {
      async function* bytes(): AsyncGenerator<Uint8Array> {
        yield unavailable();
      }
      return { contentType: 'text/csv', fileName: 'full.csv', bytes: bytes() };
    },
  });
  const headers = { 'accept-encoding': 'br', range: 'bytes=0-1' };
  for (const given of [headers, { 'accept-encoding': 'br' }]) {
    const response = await failing.ask(path, { headers: given, key: null });
    expect(response.status).toBe(502);
    expect(await response.json()).toMatchObject({ detail: 'The file store is unavailable.' });
    const names = [...response.headers.keys()];
    for (const name of ['content-encoding', 'content-range', 'content-disposition', 'etag'])
      expect(names).not.toContain(name);
    expect(response.headers.get('cache-control') ?? '').not.toContain('max-age');
  }
  await failing.close(0);
});

describe('a link with the record of its file', () => {
  const text = 'a line of text\n'.repeat(60_000);
  const path = 'job/full.jsonl';
  const record = {
    bytes: text.length,
    sha256: createHash('sha256').update(text).digest('hex'),
  };
  let stored: Record<string, string>;
  let restored: string[];
  let restore: () => void;
  let served: TestGateway;

  beforeEach(async () => {
    stored = { [path]: text };
    restored = [];
    restore = () => {
      throw new Fault('storage_damaged', 'The stored file cannot be restored.');
    };
    served = await startTestApi({
      files: chunked(stored),
      verifyLink: () => ({ path, fileName: 'full.jsonl', bearer: false, userId: '', record }),
      restoreFile: async (file) => {
        restored.push(file);
        restore();
        return null;
      },
    });
  });
  afterEach(() => served.close(0));

  /** Files whose streams have many chunks. */
  function chunked(contents: Record<string, string>) {
    const reader = memoryFiles(contents);
    return {
      ...reader,
      read: async (file: string, range?: { start: number; end: number }) => {
        const bytes = Buffer.concat(await Array.fromAsync(await reader.read(file, range)));
        const starts = Array.from(
          { length: Math.ceil(bytes.length / 65_536) },
          (_, at) => at * 65_536,
        );
        return Readable.from(starts.map((start) => bytes.subarray(start, start + 65_536)));
      },
    };
  }

  const ask = (headers: Record<string, string> = {}, method = 'GET') =>
    served.ask(`/files/${path}`, {
      key: null,
      method,
      headers: { 'accept-encoding': 'identity', ...headers },
    });

  test('has the digest of the whole file, also for a range, but not for an encoded one', async () => {
    const digest = `sha-256=:${createHash('sha256').update(text).digest('base64')}:`;
    const whole = await ask();
    expect([whole.headers.get('repr-digest'), await whole.text()]).toEqual([digest, text]);
    expect((await ask({ range: 'bytes=0-1' })).headers.get('repr-digest')).toBe(digest);
    expect((await ask({ 'accept-encoding': 'gzip' })).headers.get('repr-digest')).toBeNull();
    expect(restored).toEqual([]);
  });

  test.each([
    ['GET', {}],
    ['HEAD', {}],
    ['GET', { range: 'bytes=0-9' }],
  ])('is 502 for a file of another size: %s %j', async (method, headers) => {
    stored[path] = text.slice(0, text.length / 2);
    const response = await ask(headers, method);
    expect(response.status).toBe(502);
    if (method === 'GET') expect(await response.json()).toMatchObject({ code: 'storage_damaged' });
    expect(response.headers.get('repr-digest')).toBeNull();
    expect(restored).toEqual([path]);
  });

  test('aborts the response for a file with other contents, and returns 502 afterwards', async () => {
    stored[path] = `x${text.slice(1)}`;
    const first = await ask();
    expect(first.status).toBe(200);
    await expect(first.text()).rejects.toThrow();
    expect((await ask()).status).toBe(502);
    expect((await ask({ range: 'bytes=0-9' })).status).toBe(502);
    stored[path] = text;
    expect(await (await ask()).text()).toBe(text);
  });

  test('never ends a response of HTTP/1.0 normally for a file with other contents', async () => {
    stored[path] = `${text.slice(0, -1)}x`;
    const socket = connect(served.port, '127.0.0.1');
    const end = Promise.withResolvers<string>();
    let received = 0;
    socket.on('data', (chunk) => {
      received += chunk.length;
    });
    socket.on('error', (error: NodeJS.ErrnoException) => end.resolve(error.code ?? ''));
    socket.on('end', () => end.resolve('complete'));
    socket.write(`GET /files/${path} HTTP/1.0\r\n\r\n`);
    expect(await end.promise).toBe('ECONNRESET');
    expect(received).toBeLessThan(text.length);
  });

  test('returns the file again after it was restored', async () => {
    stored[path] = 'x';
    restore = () => {
      stored[path] = text;
    };
    expect(await (await ask()).text()).toBe(text);
    delete stored[path];
    expect(await (await ask()).text()).toBe(text);
    expect(restored).toEqual([path, path]);
  });

  test('restores a small file with other contents before it is sent', async () => {
    const small = {
      path: 'job/small.csv',
      bytes: 5,
      sha256: createHash('sha256').update('a\r\n1\n').digest('hex'),
    };
    stored[small.path] = 'b\r\n1\n';
    const api = await startTestApi({
      files: memoryFiles(stored),
      verifyLink: () => ({
        path: small.path,
        fileName: 'small.csv',
        bearer: false,
        userId: '',
        record: small,
      }),
      restoreFile: async () => {
        stored[small.path] = 'a\r\n1\n';
        return null;
      },
    });
    const response = await api.ask(`/files/${small.path}`, { key: null });
    expect([response.status, await response.text()]).toEqual([200, 'a\r\n1\n']);
    await api.close(0);
  });
});

describe('a link to the file of a batch', () => {
  const text = '[\nfirst,\nsecond\n]\n';
  const path = 'job/batch_1.json';
  const merged = 'job/full.json';
  const place = { head: '[\n', path: merged, start: 4, end: 17, tail: '\n]\n' };
  const record = { bytes: text.length, sha256: createHash('sha256').update(text).digest('hex') };
  let stored: Record<string, string>;
  let served: TestGateway;
  beforeEach(async () => {
    stored = { [merged]: '[\n0,first,\nsecond,\n3\n]\n' };
    served = await startTestApi({
      files: memoryFiles(stored, (file) => `https://storage.test/${file}`),
      verifyLink: () => ({ path, fileName: 'batch_1.json', bearer: false, userId: '', record }),
      restoreFile: async () => place,
    });
  });
  afterEach(() => served.close(0));

  const ask = (headers: Record<string, string> = {}) =>
    served.ask(`/files/${path}`, { key: null, headers });

  test('returns the rows of the merged file as a file of their own, without a redirect', async () => {
    const response = await ask();
    expect([response.status, await response.text()]).toEqual([200, text]);
    expect(response.headers.get('content-length')).toBe(String(text.length));
    const digest = Buffer.from(record.sha256, 'hex').toString('base64');
    expect(response.headers.get('repr-digest')).toBe(`sha-256=:${digest}:`);
  });

  test('returns every range of it', async () => {
    for (let start = 0; start < text.length; start += 1)
      for (let end = start; end < text.length; end += 3) {
        const response = await ask({ range: `bytes=${start}-${end}` });
        expect([response.status, await response.text()]).toEqual([206, text.slice(start, end + 1)]);
      }
  });

  test('finds the rows in the merged file if the job ends while the file is opened', async () => {
    stored[path] = text;
    const { read } = memoryFiles(stored);
    const api = await startTestApi({
      files: {
        ...memoryFiles(stored),
        read: async (file, range) => {
          if (file === path) delete stored[path];
          return read(file, range);
        },
      },
      verifyLink: () => ({ path, fileName: 'batch_1.json', bearer: false, userId: '', record }),
      restoreFile: async () => place,
    });
    const response = await api.ask(`/files/${path}`, { key: null });
    expect([response.status, await response.text()]).toEqual([200, text]);
    await api.close(0);
  });

  test('aborts the response for damaged rows, and returns storage_damaged afterwards', async () => {
    stored[merged] = stored[merged]!.replace('second', 'SECOND');
    await expect(ask().then((response) => response.text())).rejects.toThrow();
    const response = await ask();
    expect([response.status, await response.json()]).toMatchObject([
      502,
      { code: 'storage_damaged' },
    ]);
  });

  test('returns storage_damaged if the merged file is missing', async () => {
    delete stored[merged];
    const response = await ask();
    expect([response.status, await response.json()]).toMatchObject([
      502,
      { code: 'storage_damaged' },
    ]);
  });
});
