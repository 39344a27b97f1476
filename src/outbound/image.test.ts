import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { createImageFetcher, type ImageFetcher, pictureType } from './image.ts';

const png = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(100)]);
const servers: Server[] = [];
const fetchers: ImageFetcher[] = [];
afterEach(async () => {
  await Promise.all(fetchers.splice(0).map((fetcher) => fetcher.close()));
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  }
});

/** Starts a site and returns its address. */
async function site(respond: RequestListener): Promise<string> {
  const server = createServer(respond);
  servers.push(server);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function open(options: Partial<Parameters<typeof createImageFetcher>[0]> = {}): ImageFetcher {
  const fetcher = createImageFetcher({
    userAgent: 'test',
    allowPrivate: true,
    maxBytes: 10_000,
    ...options,
  });
  fetchers.push(fetcher);
  return fetcher;
}
const { signal } = new AbortController();

test('returns a picture with the type of its bytes, and sends no credentials', async () => {
  const seen: string[] = [];
  const url = await site((request, response) => {
    seen.push(...Object.keys(request.headers));
    response.setHeader('content-type', 'text/html').end(png);
  });
  expect(await open().fetch(`${url}/a.jpg`, signal)).toEqual({
    contentType: 'image/png',
    bytes: png,
  });
  expect(seen.filter((name) => /cookie|authorization|referer/.test(name))).toEqual([]);
});

test('follows redirects, and not more than three', async () => {
  const url = await site(({ url: path }, response) => {
    const left = Number(path!.slice(1));
    if (left === 0) response.end(png);
    else response.writeHead(302, { location: `/${left - 1}` }).end();
  });
  expect((await open().fetch(`${url}/3`, signal)).bytes).toEqual(png);
  await expect(open().fetch(`${url}/4`, signal)).rejects.toMatchObject({ code: 'page_unreadable' });
});

test.each([
  'file:///etc/passwd',
  'ftp://site.test/a',
  'http://user:pass@127.0.0.1/',
  'gopher://127.0.0.1:80/',
])('refuses a redirect to %s', async (location) => {
  const url = await site((_request, response) => response.writeHead(301, { location }).end());
  await expect(open().fetch(url, signal)).rejects.toMatchObject({ code: 'address_refused' });
});

describe('an address outside of the public internet is refused', () => {
  const privates = [
    'http://127.0.0.1/a.png',
    'http://169.254.169.254/latest/meta-data/',
    'http://[::1]/a.png',
    'http://[::ffff:10.0.0.1]/a.png',
    'http://2130706433/a.png',
    'http://cdn.test:22/a.png',
    'javascript:alert(1)',
    'data:image/png;base64,AAAA',
    'not a url',
  ];
  test.each(privates)('%s', async (url) => {
    await expect(open({ allowPrivate: false }).fetch(url, signal)).rejects.toMatchObject({
      code: 'address_refused',
    });
  });

  test('is refused even if a name resolves to it', async () => {
    const fetcher = open({
      allowPrivate: false,
      resolve: (_host, _options, callback) => callback(null, [{ address: '10.1.2.3', family: 4 }]),
    });
    await expect(fetcher.fetch('http://cdn.test/a.png', signal)).rejects.toMatchObject({
      code: 'address_refused',
    });
  });
});

test.each<[string, RequestListener, string]>([
  [
    'SVG',
    (_, response) =>
      response.setHeader('content-type', 'image/png').end('<svg onload="alert(1)"/>'),
    'page_unreadable',
  ],
  [
    'HTML',
    (_, response) => response.setHeader('content-type', 'image/png').end('<script>1</script>'),
    'page_unreadable',
  ],
  ['an empty body', (_, response) => response.end(), 'page_unreadable'],
  ['an error', (_, response) => response.writeHead(500).end(png), 'page_unreadable'],
  [
    'a large picture',
    (_, response) => response.end(Buffer.concat([png, Buffer.alloc(20_000)])),
    'page_too_large',
  ],
  ['a broken connection', (request) => request.socket.destroy(), 'network'],
])('rejects %s', async (_name, respond, code) => {
  const url = await site(respond);
  await expect(open().fetch(url, signal)).rejects.toMatchObject({ code });
});

test('stops reading an endless body', async () => {
  let sent = 0;
  const url = await site((_request, response) => {
    const send = () => {
      sent += 5_000;
      if (!response.destroyed) response.write(Buffer.alloc(5_000), send);
    };
    send();
  });
  await expect(open().fetch(url, signal)).rejects.toMatchObject({ code: 'page_too_large' });
  expect(sent).toBeLessThan(50_000_000);
});

test('times out, and refuses more than 16 concurrent image requests', async () => {
  const url = await site(() => {});
  const fetcher = open({ totalMs: 300 });
  const results = await Promise.allSettled(
    Array.from({ length: 17 }, () => fetcher.fetch(url, signal)),
  );
  const codes = results.map((result) => (result as PromiseRejectedResult).reason.code as string);
  expect(codes.filter((code) => code === 'page_throttled')).toHaveLength(1);
  expect(codes.filter((code) => code === 'page_timeout')).toHaveLength(16);
});

test('pictureType() detects the format by the first bytes', () => {
  const types = [
    'GIF89a',
    'GIF87a',
    'RIFF1234WEBP',
    `\x00\x00\x00\x20ftyp${'avif'}`,
    '\xff\xd8\xff\xe0',
    'GIF8',
    '<svg',
    '',
  ];
  expect(types.map((start) => pictureType(Buffer.from(start, 'latin1')))).toEqual([
    'image/gif',
    'image/gif',
    'image/webp',
    'image/avif',
    'image/jpeg',
    null,
    null,
    null,
  ]);
});
