import { create } from '@bufbuild/protobuf';
import type { RequestHandler } from 'express';
import { afterEach, expect, test } from 'vitest';
import { handClock } from '../../../gateway/fixture/gateway.ts';
import { queryReader } from '../../../gateway/request/params.ts';
import { ListJobsRequestSchema } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { createRateLimit, type RateLimit } from '../../access/rate-limit.ts';
import { Fault } from '../../contract/fault.ts';
import { createReadState } from '../../contract/json/values.ts';
import { recordedCaller, startTestApi } from './fixture.ts';
import { addressForms } from './rest.ts';

let api: Awaited<ReturnType<typeof startTestApi>>;
afterEach(() => api.close(0));

const open = async (
  responders: Parameters<typeof recordedCaller>[0],
  rateLimit: RateLimit | null = null,
): Promise<void> => {
  api = await startTestApi({ caller: recordedCaller(responders, rateLimit).caller });
};
test('reports liveness regardless of the core, and readiness with the missing component', async () => {
  const { caller, state } = recordedCaller({});
  api = await startTestApi({ caller });
  for (const path of ['/health', '/v1/health'])
    expect(await (await api.ask(path, { key: null })).json()).toEqual({ status: 'ok' });
  const ready = await api.ask('/ready', { key: null });
  expect([ready.status, await ready.json()]).toEqual([200, { status: 'ready' }]);
  state.missing = new Fault('unavailable', 'nats://10.0.0.7:4222 does not response', {
    component: 'queue',
  });
  const missing = await api.ask('/v1/ready', { key: null });
  expect([missing.status, await missing.json()]).toEqual([
    503,
    { status: 'unavailable', detail: 'The queue is unavailable.' },
  ]);
  expect((await api.ask('/health')).status).toBe(200);
});

test('serves the directory of keys unencoded, and none if requests are not signed', async () => {
  const path = '/.well-known/http-message-signatures-directory';
  const body = JSON.stringify({ keys: Array(100).fill({ kty: 'OKP' }) });
  api = await startTestApi({
    keyDirectory: async () => ({ headers: { signature: 'key0=:AA==:' }, body }),
  });
  const found = await api.ask(path, { key: null });
  expect([found.status, found.headers.get('signature'), await found.text()]).toEqual([
    200,
    'key0=:AA==:',
    body,
  ]);
  expect(found.headers.get('content-encoding')).toBeNull();
  await api.close(0);
  api = await startTestApi({ keyDirectory: async () => null });
  const missing = await api.ask(path, { key: null });
  expect([missing.status, ((await missing.json()) as { code: string }).code]).toEqual([
    404,
    'not_found',
  ]);
});

test('limits the rate per key with 429 and Retry-After', async () => {
  const clock = handClock();
  const rateLimit = createRateLimit({ requestsPerSecond: 2, clock });
  await open({ GetOrder: () => ({}) }, rateLimit);
  const ask = async (key: string) => {
    const response = await api.ask('/shop/orders/1', { key });
    return [response.status, response.headers.get('retry-after')];
  };
  expect([await ask('key-ann'), await ask('key-ann'), await ask('key-ann')]).toEqual([
    [200, null],
    [200, null],
    [429, '1'],
  ]);
  expect(await ask('key-bob')).toEqual([200, null]);
  expect(await ask('nobody')).toEqual([401, null]);
  clock.move(500);
  expect([await ask('key-ann'), await ask('key-ann')]).toEqual([
    [200, null],
    [429, '1'],
  ]);
});

test('sends the rate-limit headers with every authenticated response', async () => {
  const clock = handClock();
  await open({ GetOrder: () => ({}) }, createRateLimit({ requestsPerSecond: 2, clock }));
  const rateOf = async (path = '/shop/orders/1', key?: string) => {
    const { status, headers } = await api.ask(path, key === undefined ? {} : { key });
    const names = ['ratelimit', 'ratelimit-policy', 'limit', 'remaining', 'reset'];
    return [
      status,
      ...names.map((name) => headers.get(name.startsWith('rate') ? name : `x-ratelimit-${name}`)),
    ];
  };
  const policy = '"key";q=2;w=1';
  expect(await rateOf()).toEqual([200, '"key";r=1;t=1', policy, '2', '1', '1']);
  expect(await rateOf('/shop/orders/x')).toEqual([422, '"key";r=0;t=1', policy, '2', '0', '1']);
  expect(await rateOf()).toEqual([429, '"key";r=0;t=1', policy, '2', '0', '1']);
  clock.move(1000);
  expect(await rateOf()).toEqual([200, '"key";r=1;t=1', policy, '2', '1', '1']);
  expect(await rateOf(undefined, 'nobody')).toEqual([401, null, null, null, null, null]);
});

test('describes a rate below one per second as one request in a longer window', async () => {
  const rateLimit = createRateLimit({ requestsPerSecond: 0.25, clock: handClock() });
  await open({ GetOrder: () => ({}) }, rateLimit);
  const { headers } = await api.ask('/shop/orders/1');
  expect([headers.get('ratelimit-policy'), headers.get('ratelimit')]).toEqual([
    '"key";q=1;w=4',
    '"key";r=0;t=4',
  ]);
});

test('sends no rate-limit headers without a limit', async () => {
  await open({ GetOrder: () => ({}) });
  const { headers } = await api.ask('/shop/orders/1');
  expect([...headers.keys()].filter((name) => name.includes('ratelimit'))).toEqual([]);
});

test('serves every path with /v1 and without, and documents the first form first', async () => {
  await open({ GetOrder: () => ({ number: 3n }) });
  expect(addressForms('/shop/orders')).toEqual(['/v1/shop/orders', '/shop/orders']);
  expect(addressForms('/v1/shop/orders')).toEqual(['/v1/shop/orders', '/shop/orders']);
  for (const path of ['/shop/orders/3', '/v1/shop/orders/3'])
    expect(await (await api.ask(path)).json()).toMatchObject({ number: 3 });
});

test('serves the paths of its mounts with /v1 and without', async () => {
  const mount: RequestHandler = ({ url, path }, response, next) => {
    if (path === '/mcp' || path.includes('.v1.')) response.end(url);
    else next();
  };
  api = await startTestApi({ mounts: [mount] });
  const ask = async (path: string) => (await api.ask(path)).text();
  for (const path of ['/shop.v1.Shop/GetOrder?a=/v1/b', '/sub.shop.v1.Shop/GetOrder'])
    expect([await ask(path), await ask(`/v1${path}`)]).toEqual([path, path]);
});

test('an empty query parameter is no value of an enumeration', () => {
  const state = createReadState();
  const read = queryReader(ListJobsRequestSchema.fields);
  read(new URLSearchParams('status='), create(ListJobsRequestSchema), state);
  expect(state.problems).toMatchObject([{ loc: ['query', 'status'], type: 'enum' }]);
});
