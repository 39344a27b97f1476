import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestGateway } from '../../../../gateway/fixture/gateway.ts';
import { recordedCaller, startTestApi } from '../fixture.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestApi({ caller: recordedCaller({}).caller });
});
afterAll(() => gateway.close(0));

const get = (path: string) => gateway.ask(path, { key: null });

test('lists the sections of all pages for a search', async () => {
  const response = await get('/docs/guide/search.json');
  expect(response.headers.get('content-type')).toBe('application/json');
  const sections = (await response.json()) as {
    title: string;
    page: string;
    path: string;
    text: string;
  }[];
  expect(sections).toContainEqual(
    expect.objectContaining({
      title: 'Standard columns',
      path: '/docs/guide/formats#standard-columns',
    }),
  );
});

test('serves the pictures of the pages', async () => {
  const response = await get('/docs/guide/console/job.png');
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/png']);
});

test.each([
  'none',
  'kinds/none',
  'decisions/README',
  'console/none.png',
  '..%2fREADME',
  'dependencies.md',
])('responds with 404 to %s', async (name) => {
  expect((await get(`/docs/guide/${name}`)).status).toBe(404);
});
