import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Caller } from '../src/contract/caller.ts';
import { Fault } from '../src/contract/fault.ts';
import {
  packingRetention,
  recordedCaller,
  startTestGateway,
  type TestGateway,
} from './fixture/gateway.ts';

let counted: number;
let quota: number;
let gateway: TestGateway;
beforeEach(async () => {
  counted = 0;
  quota = 2;
  const core = recordedCaller({ GetParcel: () => ({ status: 'sent', labelUrl: 'x' }) });
  const take = () => {
    if (counted === quota) throw new Fault('rate_limited', 'Too many requests');
    counted += 1;
    return { 'x-remaining': String(quota - counted) };
  };
  // Like a core in another process: a call counts its request.
  const caller: Caller = {
    authenticate: async (headers) => {
      const session = await core.caller.authenticate(headers);
      let isCounted = false;
      return {
        ...session,
        call: async (...parameters) => {
          isCounted = true;
          take();
          return session.call(...parameters);
        },
        count: async () => (isCounted ? {} : take()),
      };
    },
  };
  gateway = await startTestGateway({ caller, retention: packingRetention });
});
afterEach(() => gateway.close());

const place = (body: string) =>
  gateway.ask('/shop/orders', {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json' },
  });

test('counts a request whose body is malformed, and limits it', async () => {
  for (const remaining of ['1', '0']) {
    const response = await place('{');
    expect([response.status, response.headers.get('x-remaining')]).toEqual([400, remaining]);
  }
  expect((await place('{')).status).toBe(429);
});

test('counts each cached response, and each forwarded call once', async () => {
  const ask = () => gateway.ask('/shop/parcels/6b0cbe2e-7a8e-4f0c-9d3f-0a4a6f1a0001');
  expect((await ask()).status).toBe(200);
  expect(counted).toBe(1);
  const cached = await ask();
  expect([cached.status, cached.headers.get('x-remaining')]).toEqual([200, '0']);
  expect((await ask()).status).toBe(429);
});
