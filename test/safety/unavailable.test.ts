import { afterEach, describe, expect, test } from 'vitest';
import { openRpcFixture, type RpcFixture } from '../support/rpc/rpc-fixture.ts';
import { sendJson } from '../support/service/api.ts';

let stage: RpcFixture;
afterEach(() => stage.close());

const account = '/gleaner.account.v1.AccountService/GetAccount';
const key = () => stage.authorization.replace('Bearer ', '');
const rest = (path: string) =>
  sendJson('GET', `http://127.0.0.1:${stage.gateway.port}${path}`, key());
const connectPorts = () => [stage.server.port, stage.gateway.port, stage.front.port];
const health = () =>
  sendJson('POST', `http://127.0.0.1:${stage.server.port}/grpc.health.v1.Health/Check`, null, {});

describe('while an engine is unavailable', () => {
  test('names the unavailable component but not its address', async () => {
    stage = await openRpcFixture();
    await stage.context.store.close();
    const detail = 'The store is unavailable.';
    expect(await rest('/v1/account')).toMatchObject({ status: 502, body: { detail } });
    expect(await rest('/ready')).toMatchObject({
      status: 503,
      body: { status: 'unavailable', detail },
    });
    for (const port of connectPorts()) {
      const response = await sendJson('POST', `http://127.0.0.1:${port}${account}`, key(), {});
      expect(response).toMatchObject({
        status: 503,
        body: { code: 'unavailable', message: detail },
      });
      expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  test('names an unreachable core without its address', async () => {
    stage = await openRpcFixture();
    await stage.server.close();
    const response = await sendJson(
      'POST',
      `http://127.0.0.1:${stage.front.port}${account}`,
      key(),
      {},
    );
    expect(response).toMatchObject({ status: 503, body: { message: 'The core is unavailable.' } });
    expect(JSON.stringify(response.body)).not.toContain('127.0.0.1');
  });
});

test('every port returns 503 until the first operator exists', async () => {
  let started = false;
  stage = await openRpcFixture({}, () => started);
  const detail = 'The service is starting.';
  expect(await rest('/health')).toMatchObject({
    status: 503,
    body: { status: 'unavailable', detail },
  });
  expect(await rest('/ready')).toMatchObject({
    status: 503,
    body: { status: 'unavailable', detail },
  });
  const refused = await rest('/v1/account');
  expect(refused).toMatchObject({ status: 503, body: { detail } });
  expect(refused.headers.get('retry-after')).toBe('2');
  for (const port of connectPorts()) {
    const response = await sendJson('POST', `http://127.0.0.1:${port}${account}`, key(), {});
    expect(response).toMatchObject({ status: 503, body: { code: 'unavailable', message: detail } });
  }
  expect((await health()).body).toEqual({ status: 'NOT_SERVING' });

  started = true;
  expect(await rest('/health')).toMatchObject({ status: 200, body: { status: 'ok' } });
  expect((await rest('/ready')).status).toBe(200);
  expect((await rest('/v1/account')).status).toBe(200);
  expect((await health()).body).toEqual({ status: 'SERVING' });
});
