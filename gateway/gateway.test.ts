import { Writable } from 'node:stream';
import { create } from '@bufbuild/protobuf';
import pino from 'pino';
import { expect, test } from 'vitest';
import { Fault } from '../src/contract/fault.ts';
import {
  handClock,
  packingRetention,
  recordedCaller,
  startTestGateway,
} from './fixture/gateway.ts';
import { shopService } from './fixture/shop.ts';

const parcel = '6f1c0f3e-54b5-4b0e-9f2d-0a4de2a1b2c3';

test('caches responses of a cached method by status and caller', async () => {
  let calls = 0;
  let state: { status: string; labelUrl?: string } = { status: 'packing' };
  const clock = handClock();
  const { caller } = recordedCaller({
    GetParcel: ({ parcelId }) => {
      calls += 1;
      return { parcelId, ...state };
    },
  });
  const gateway = await startTestGateway({
    caller,
    clock,
    retention: packingRetention,
  });
  const ask = async (path = `/api/shop/parcels/${parcel}`, key = 'key-ann') => {
    const response = await gateway.ask(path, { key });
    return [
      ((await response.json()) as { status: string }).status,
      response.headers.get('cache-control'),
    ];
  };
  expect(await ask()).toEqual(['packing', 'private, max-age=120']);
  state = { status: 'delivered' };
  clock.move(50_500);
  expect(await ask(`/shop/parcels/${parcel}`)).toEqual(['packing', 'private, max-age=69']);
  expect(calls).toBe(1);
  expect(await ask(undefined, 'key-bob')).toEqual(['delivered', 'private, max-age=120']);
  clock.move(69_500);
  // Ended, but its file is not available yet: cached for a short time.
  expect(await ask()).toEqual(['delivered', 'private, max-age=120']);
  state = { status: 'delivered', labelUrl: 'https://x' };
  clock.move(120_000);
  expect(await ask()).toEqual(['delivered', 'private, max-age=86400']);
  clock.move(86_399_000);
  expect(await ask()).toEqual(['delivered', 'private, max-age=1']);
  expect(calls).toBe(4);
  await gateway.close(0);
});

test('caches no faults, and nothing without a retention', async () => {
  let calls = 0;
  const failing = recordedCaller({
    GetParcel: () => {
      calls += 1;
      throw new Fault('not_found', 'no such parcel');
    },
  });
  const gateway = await startTestGateway({
    caller: failing.caller,
    retention: packingRetention,
  });
  for (const count of [1, 2]) {
    expect((await gateway.ask(`/shop/parcels/${parcel}`)).status).toBe(404);
    expect(calls).toBe(count);
  }
  await gateway.close(0);
  const { caller, calls: made } = recordedCaller({ GetParcel: () => ({ status: 'delivered' }) });
  const plain = await startTestGateway({ caller });
  for (const count of [1, 2]) {
    expect((await plain.ask(`/shop/parcels/${parcel}`)).headers.get('cache-control')).toBe(
      'no-store',
    );
    expect(made).toHaveLength(count);
  }
  await plain.close(0);
});

test('writes one access-log line per request, with the request id and without secrets', async () => {
  const lines: Record<string, unknown>[] = [];
  const log = pino(
    { level: 'info' },
    new Writable({
      write: (chunk, _encoding, done) => done(void lines.push(JSON.parse(String(chunk)))),
    }),
  );
  const { caller } = recordedCaller({ GetOrder: () => ({}) });
  const gateway = await startTestGateway({ caller, log });
  const ids = [];
  for (const path of ['/api/shop/orders/77?token=secret', '/nothing?token=secret'])
    ids.push((await gateway.ask(path)).headers.get('x-request-id'));
  await expect.poll(() => lines.length).toBe(2);
  expect(lines).toMatchObject([
    {
      level: 30,
      msg: 'request',
      requestId: ids[0],
      method: 'GET',
      route: '/shop/orders/{number}',
      status: 200,
      ms: 0,
      userId: 'ann',
    },
    {
      level: 30,
      msg: 'request',
      requestId: ids[1],
      method: 'GET',
      path: '/nothing',
      status: 404,
      ms: 0,
    },
  ]);
  expect(JSON.stringify(lines)).not.toMatch(/secret|key-ann/);
  await gateway.close(0);
});

test('logs the time that a call waited apart from its duration', async () => {
  const lines: Record<string, unknown>[] = [];
  const log = pino(
    { level: 'info' },
    new Writable({
      write: (chunk, _encoding, done) => done(void lines.push(JSON.parse(String(chunk)))),
    }),
  );
  const clock = handClock();
  const { caller } = recordedCaller({
    GetOrder: (_message, { responseHeaders }) => {
      clock.move(30_020);
      responseHeaders['server-timing'] = 'wait;dur=30000';
      return {};
    },
  });
  const gateway = await startTestGateway({ caller, log, clock });
  const response = await gateway.ask('/api/shop/orders/77');
  expect(response.headers.get('server-timing')).toBe('wait;dur=30000');
  await expect.poll(() => lines.length).toBe(1);
  expect(lines).toMatchObject([{ status: 200, ms: 20, waited_ms: 30_000 }]);
  await gateway.close(0);
});

test('serves mounts before the 404 and converts their errors to faults', async () => {
  const gateway = await startTestGateway({
    mounts: [
      (request, response, next) => {
        if (request.path === '/boom') throw new Error('inside');
        if (request.path === '/mounted') response.end('here');
        else next();
      },
    ],
  });
  expect(await (await gateway.ask('/mounted')).text()).toBe('here');
  expect((await gateway.ask('/boom')).status).toBe(500);
  expect((await gateway.ask('/other')).status).toBe(404);
  await gateway.close(0);
});

test('createGateway() throws for a path that is declared twice', async () => {
  await expect(startTestGateway({ services: [shopService, shopService] })).rejects.toThrow(
    'POST /api/shop/orders is declared twice',
  );
});

test('serializes a frozen message once, and other messages on each call', async () => {
  let written = 0;
  const orderWith = (number: bigint) => {
    const order = create(shopService.method.getOrder!.output);
    const read = () => {
      written += 1;
      return number;
    };
    return Object.defineProperty(order, 'number', {
      get: read,
      enumerable: true,
      configurable: true,
    });
  };
  let order = orderWith(7n);
  const { caller } = recordedCaller({ GetOrder: () => order });
  const gateway = await startTestGateway({ caller });
  const ask = async () =>
    ((await (await gateway.ask('/shop/orders/7')).json()) as { number: number }).number;
  expect([await ask(), await ask(), written]).toEqual([7, 7, 2]);
  Object.freeze(order);
  expect([await ask(), await ask(), written]).toEqual([7, 7, 3]);
  order = Object.freeze(orderWith(8n));
  expect([await ask(), written]).toEqual([8, 4]);
  await gateway.close();
});

test('close() waits for active requests', async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let started = () => {};
  const arrived = new Promise<void>((resolve) => {
    started = resolve;
  });
  const { caller } = recordedCaller({});
  const authenticate = caller.authenticate;
  caller.authenticate = async (headers) => {
    started();
    await held;
    return authenticate(headers);
  };
  const gateway = await startTestGateway({ caller });
  const response = gateway.ask('/shop/orders/x');
  await arrived;
  const closed = gateway.close(5000);
  release();
  expect((await response).status).toBe(422);
  await closed;
  await expect(gateway.ask('/shop/orders/1')).rejects.toThrow();
});
