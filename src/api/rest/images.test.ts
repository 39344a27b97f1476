import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestGateway } from '../../../gateway/fixture/gateway.ts';
import { Fault } from '../../contract/fault.ts';
import { recordedCaller, startTestApi } from './fixture.ts';
import type { ImageServing } from './rest.ts';

const images: ImageServing = {
  verify: (path) => {
    if (!path.endsWith('signature=good')) throw new Fault('link_invalid', 'The link is not valid.');
    return 'https://cdn.test/a.png';
  },
  fetch: async (url) => {
    if (url !== 'https://cdn.test/a.png') throw new Fault('network', 'unreachable');
    return { contentType: 'image/png', bytes: Buffer.from('picture') };
  },
};
let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestApi({ caller: recordedCaller({}).caller, images });
});
afterAll(() => gateway.close(0));

const get = (path: string, method = 'GET') => gateway.ask(path, { key: null, method });

test.each(['/images', '/v1/images'])('serves a picture at a signed path of %s', async (path) => {
  const response = await get(`${path}?signature=good`);
  expect([response.status, await response.text()]).toEqual([200, 'picture']);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'image/png',
    'content-length': '7',
    'cache-control': 'private, max-age=86400',
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
  });
  const head = await get(`${path}?signature=good`, 'HEAD');
  expect([head.status, await head.text()]).toEqual([200, '']);
});

test('rejects a path that was not signed', async () => {
  expect((await get('/images?signature=bad')).status).toBe(403);
});

test('responds with 404 if the site sends no picture, or if pictures are off', async () => {
  const failing = await startTestApi({
    caller: recordedCaller({}).caller,
    images: {
      ...images,
      fetch: () => Promise.reject(new Fault('page_unreadable', 'not a picture')),
    },
  });
  const off = await startTestApi({ caller: recordedCaller({}).caller });
  for (const api of [failing, off]) {
    expect((await api.ask('/images?signature=good', { key: null })).status).toBe(404);
    await api.close(0);
  }
});
