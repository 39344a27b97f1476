import {
  Client,
  type ClientOptions,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { origins as fakeOrigins } from '../../../sandbox/list.ts';
import { type RunningOrigins, startOrigins } from '../../../sandbox/server.ts';
import { sendModern } from '../../mcp/modern.ts';
import { openStacks, stacks } from '../../support/engines/engines.ts';
import { createApi, type TestApi, type TestUser } from '../../support/service/api.ts';
import { createDeployment, type Deployment } from '../../support/service/deployment.ts';
import { until } from '../../support/time/until.ts';

const pages = (...digits: string[]) => ({
  items: digits.map((end) => ({ shop_domain: 'toko-7', product_key: `barang-${end}` })),
});

/** A connection of the official client. */
interface Connection {
  client: Client;
  transport: StreamableHTTPClientTransport;
  /** Calls a tool and returns its JSON result; throws one that is an error. */
  // biome-ignore lint/suspicious/noExplicitAny: results of every shape.
  call(name: string, given?: Record<string, unknown>): Promise<any>;
}

describe.each(await openStacks(stacks))('on the $title stack', (stack) => {
  const { distributed, engines } = stack;
  let origins: RunningOrigins;
  let deployment: Deployment;
  let api: TestApi;
  let user: TestUser;
  beforeAll(async () => {
    if (engines === null) return;
    origins = await startOrigins({ origins: fakeOrigins });
    deployment = await createDeployment({
      inProcess: false,
      stack: { distributed },
      engines,
      origins,
      layout: { apis: 2, workers: 1, gateways: 1 },
    });
    await deployment.start();
    api = createApi(deployment);
    user = await api.createUser(50_000);
  });
  afterAll(async () => {
    await deployment?.stop();
    await origins?.stop();
    await engines?.stop();
  });

  /** Connects a client whose requests go to each api and gateway process in turn. */
  async function connect(
    query: string,
    {
      key = user.key,
      options = {},
      sessionId,
    }: { key?: string; options?: ClientOptions; sessionId?: string } = {},
  ): Promise<Connection> {
    let turn = 0;
    const transport = new StreamableHTTPClientTransport(new URL(`${deployment.url}/mcp${query}`), {
      requestInit: { headers: { authorization: `Bearer ${key}` } },
      ...(sessionId === undefined ? {} : { sessionId }),
      fetch: (_url, init) => {
        const base = deployment.urls[turn++ % deployment.urls.length]!;
        return fetch(`${base}/mcp${query}`, init);
      },
    });
    const client = new Client({ name: 'test', version: '1' }, options);
    await client.connect(transport);
    return {
      client,
      transport,
      async call(name, given = {}) {
        const result = await client.callTool({ name, arguments: given });
        const [first] = result.content as { type: string; text: string }[];
        const value = JSON.parse(first!.text);
        if (result.isError) throw Object.assign(new Error(value.message), value);
        return value;
      },
    };
  }

  describe.skipIf(engines === null)('a task', () => {
    test('is found by every process, after the death of the one that created it', async () => {
      const send = async (url: string, method: string, params: Record<string, unknown>) => {
        const { result, error } = await sendModern(url, user.key, method, params);
        if (error !== undefined) throw new Error(JSON.stringify(error));
        return result;
      };
      const call = { name: 'submit_mktb_pdp_bulk', arguments: pages('501', '502') };
      const { taskId } = await send(deployment.urls[0]!, 'tools/call', call);
      const get = (url: string) => send(url, 'tasks/get', { taskId });
      const ended = async () => {
        const task = await get(deployment.urls.at(-1)!);
        return task.status === 'completed' ? task : undefined;
      };
      const { result } = await until(`task ${taskId} ends`, ended, { withinMs: 60_000 });
      expect(JSON.parse(result.content[0].text)).toMatchObject({ job_id: taskId, success: 2 });
      await deployment.api.kill();
      await deployment.api.start();
      for (const url of deployment.urls) expect((await get(url)).result).toEqual(result);
    });
  });

  describe.skipIf(engines === null)('a session with a budget over HTTP', () => {
    test('is not exceeded by concurrent submissions through several processes', async () => {
      const before = await api.balance(user);
      const { client, call } = await connect('?budget=23');
      const submits = Array.from({ length: 12 }, (_, turn) =>
        call('submit_mktb_pdp_bulk', pages(`${100 + turn}`)),
      );
      const outcomes = await Promise.allSettled(submits);
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(4);
      for (const outcome of outcomes)
        if (outcome.status === 'rejected')
          expect(outcome.reason).toMatchObject({
            code: 'insufficient_credits',
            quota: { required: 5, current: 3 },
          });
      expect(before - (await api.balance(user))).toBe(20);
      const quote = await call('submit_mktb_pdp_bulk', { ...pages('150'), validate_only: true });
      expect(quote).toMatchObject({ accepted: false, cost: 5 });
      await client.close();
    });

    test('continues after the death of a process, and of every client', async () => {
      const first = await connect('?budget=12');
      await first.call('submit_mktb_pdp_bulk', pages('201'));
      const { sessionId } = first.transport;
      await first.client.close();
      await deployment.api.kill();
      await deployment.api.start();
      const second = await connect('?budget=12', { sessionId: sessionId! });
      await second.call('submit_mktb_pdp_bulk', pages('202'));
      await expect(second.call('submit_mktb_pdp_bulk', pages('203'))).rejects.toMatchObject({
        code: 'insufficient_credits',
      });
      await second.client.close();
    });

    test('sessions of one key have budgets of their own', async () => {
      const [one, other] = [await connect('?budget=5'), await connect('?budget=5')];
      expect(one.transport.sessionId).not.toBe(other.transport.sessionId);
      for (const { call } of [one, other]) {
        await call('submit_mktb_pdp_bulk', pages('301'));
        await expect(call('submit_mktb_pdp_bulk', pages('302'))).rejects.toThrow(/ceiling is 5/);
      }
      await Promise.all([one.client.close(), other.client.close()]);
    });

    test('has no tools that spend credits later', async () => {
      const { client } = await connect('?budget=5');
      const tools = JSON.stringify((await client.listTools()).tools);
      expect(tools).toContain('"submit_mktb_pdp_bulk"');
      expect(tools).not.toMatch(/"(?:create|run|resume)_/);
      await client.close();
    });

    test('ends when the client ends it', async () => {
      const { client, transport } = await connect('?budget=500');
      const { sessionId } = transport;
      expect((await post(user.key, { 'mcp-session-id': sessionId! }, '?budget=500')).status).toBe(
        200,
      );
      await transport.terminateSession();
      await client.close();
      expect((await post(user.key, { 'mcp-session-id': sessionId! }, '?budget=500')).status).toBe(
        404,
      );
    });

    test('is rejected for another key of the user', async () => {
      const { transport, client } = await connect('?budget=500');
      const { apiKey } = await api.operator('CreateApiKey', {
        user_id: user.id,
        name: 'other',
        scopes: ['read'],
      });
      const response = await post(
        apiKey,
        { 'mcp-session-id': transport.sessionId! },
        '?budget=500',
      );
      expect(response.status).toBe(404);
      for (const id of ['x', `${transport.sessionId}A`, transport.sessionId!.slice(4)])
        expect((await post(user.key, { 'mcp-session-id': id }, '?budget=500')).status).toBe(404);
      await client.close();
    });

    test('needs a key that may create keys, and refuses others before anything is spent', async () => {
      const request = { user_id: user.id, name: 'limited' };
      const limited = [{ scopes: ['read'] }, { scopes: ['submit'] }, { credit_ceiling: 50 }];
      for (const limits of limited) {
        const { apiKey } = await api.operator('CreateApiKey', { ...request, ...limits });
        await expect(connect('?budget=5', { key: apiKey })).rejects.toThrow(/403|scope|ceiling/);
      }
    });

    test('is refused without a session, and with an invalid amount', async () => {
      expect((await post(user.key, {}, '?budget=5')).status).toBe(400);
      for (const value of ['-1', '1.5', 'x', '', '1e3'])
        expect((await post(user.key, {}, `?budget=${value}`)).status).toBe(422);
    });

    test('a client of the newest protocol, which has no sessions, falls back to one that has', async () => {
      const { client, transport, call } = await connect('?budget=5', {
        options: { versionNegotiation: { mode: 'auto' } },
      });
      expect(transport.sessionId).toBeDefined();
      await call('submit_mktb_pdp_bulk', pages('401'));
      await expect(call('submit_mktb_pdp_bulk', pages('402'))).rejects.toThrow(/ceiling/);
      await client.close();
    });
  });

  const post = (key: string, headers: Record<string, string>, query = '') =>
    fetch(`${deployment.url}/mcp${query}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    });
});
