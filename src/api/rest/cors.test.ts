import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { TestGateway } from '../../../gateway/fixture/gateway.ts';
import { recordedCaller, startTestApi } from './fixture.ts';

const origin = 'https://app.example';
const preflight = (headers: string, from = origin): RequestInit => ({
  method: 'OPTIONS',
  headers: {
    origin: from,
    'access-control-request-method': 'POST',
    'access-control-request-headers': headers,
  },
});
const corsHeaders = ({ headers }: Response) =>
  [...headers].filter(([name]) => name.startsWith('access-control-'));

let api: TestGateway;
const open = async (corsOrigins?: string[]) => {
  api = await startTestApi({
    ...(corsOrigins === undefined ? {} : { corsOrigins }),
    caller: recordedCaller({ GetOrder: () => ({}) }).caller,
  });
};
afterEach(() => api.close(0));

test('sends no CORS headers without origins', async () => {
  await open();
  const response = await api.ask('/v1/shop/orders/1', { headers: { origin } });
  expect([response.status, corsHeaders(response)]).toEqual([200, []]);
  const refused = await api.ask('/v1/shop/orders', preflight('authorization'));
  expect(corsHeaders(refused)).toEqual([]);
});

describe('with an origin', () => {
  beforeEach(() => open([origin]));

  test('allows its pages to send the headers of the client and to read those of responses', async () => {
    const allowed = await api.ask(
      '/v1/shop/orders',
      preflight('authorization,idempotency-key,gleaner-wait'),
    );
    expect(allowed.status).toBe(204);
    expect(allowed.headers.get('access-control-allow-origin')).toBe(origin);
    expect(allowed.headers.get('access-control-allow-headers')?.split(',')).toEqual(
      expect.arrayContaining(['authorization', 'idempotency-key', 'gleaner-wait', 'range']),
    );
    const response = await api.ask('/v1/shop/orders/1', { headers: { origin } });
    expect(response.status).toBe(200);
    expect(response.headers.get('access-control-allow-origin')).toBe(origin);
    expect(response.headers.get('access-control-expose-headers')?.split(',')).toEqual(
      expect.arrayContaining([
        'retry-after',
        'x-request-id',
        'x-credits-remaining',
        'content-disposition',
      ]),
    );
    const document = await api.ask('/openapi.json', { headers: { origin } });
    expect(document.headers.get('vary')?.toLowerCase()).toBe('origin, accept-encoding');
  });

  test('allows errors to be read', async () => {
    for (const [path, status] of [
      ['/v1/nowhere', 404],
      ['/v1/shop/orders/x', 422],
    ] as const) {
      const response = await api.ask(path, { headers: { origin } });
      expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([
        status,
        origin,
      ]);
    }
  });

  test.each(['https://other.example', 'http://app.example', 'https://app.example:8443', 'null'])(
    'does not allow %s',
    async (other) => {
      const refused = await api.ask('/v1/shop/orders', preflight('authorization', other));
      expect(refused.headers.get('access-control-allow-origin')).toBeNull();
      const response = await api.ask('/v1/shop/orders/1', { headers: { origin: other } });
      expect(response.headers.get('access-control-allow-origin')).toBeNull();
      expect(response.headers.get('vary')?.toLowerCase()).toContain('origin');
    },
  );

  test('allows neither cookies nor the CSRF token', async () => {
    const allowed = await api.ask('/v1/shop/orders', preflight('authorization,x-csrf-token'));
    expect(allowed.headers.get('access-control-allow-credentials')).toBeNull();
    expect(allowed.headers.get('access-control-allow-headers')?.toLowerCase()).not.toContain(
      'csrf',
    );
    const response = await api.ask('/v1/shop/orders/1', { headers: { origin } });
    expect(response.headers.get('access-control-allow-credentials')).toBeNull();
  });

  test.each(['/console', '/console/session', '/console?x'])(
    'sends no CORS headers from %s',
    async (path) => {
      for (const init of [preflight('x-csrf-token'), { headers: { origin } }])
        expect(corsHeaders(await api.ask(path, init))).toEqual([]);
    },
  );

  test('responds to OPTIONS without a preflight request as without CORS', async () => {
    const response = await api.ask('/v1/shop/orders/1', { method: 'OPTIONS', headers: { origin } });
    expect([response.status, response.headers.get('allow')]).toEqual([
      204,
      expect.stringContaining('GET'),
    ]);
  });
});

test('allows every origin with *', async () => {
  await open(['*']);
  const response = await api.ask('/v1/shop/orders/1', {
    headers: { origin: 'https://other.example' },
  });
  expect(response.headers.get('access-control-allow-origin')).toBe('*');
  expect(response.headers.get('access-control-allow-credentials')).toBeNull();
});
