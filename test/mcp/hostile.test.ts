import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openSandboxFixture, type SandboxFixture } from '../sandbox/fixture.ts';
import { type Engines, embedded } from '../support/engines/engines.ts';

let fixture: SandboxFixture;
let url: string;
let key: string;
beforeAll(async () => {
  fixture = await openSandboxFixture(false, (await embedded.open()) as Engines, {
    settings: { GLEANER_CORS_ORIGINS: 'https://app.example', GLEANER_REQUESTS_PER_SECOND: '5' },
  });
  url = `${fixture.deployment.url}/mcp`;
});
afterAll(() => fixture?.stop());
// The rate limit is per user.
let userId: string;
const createKey = async (scopes: string[]): Promise<string> => {
  const request = { user_id: userId, name: 'ci', mode: 'test', scopes };
  return (await fixture.api.operator('CreateApiKey', request)).apiKey;
};
beforeEach(async () => {
  userId = (await fixture.api.createUser(0)).id;
  key = await createKey(['read', 'submit']);
});

const post = (body: string, headers: Record<string, string> = {}) =>
  fetch(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body,
  });
const listTools = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });

describe('/mcp', () => {
  test('rejects a caller without a valid key before the body is sent', async () => {
    for (const authorization of ['', 'Bearer gl_unknown', 'Basic x']) {
      const status = await new Promise((resolve, reject) => {
        const sent = httpRequest(
          url,
          {
            method: 'POST',
            headers: {
              authorization,
              'content-type': 'application/json',
              'content-length': 1_000_000,
            },
          },
          ({ statusCode }) => {
            resolve(statusCode);
            sent.destroy();
          },
        );
        sent.on('error', reject);
        sent.write('{');
      });
      expect(status).toBe(401);
    }
    // Operators have no jobs.
    expect(
      (await post(listTools, { authorization: `Bearer ${fixture.deployment.operatorKey}` })).status,
    ).toBe(403);
  });

  test.each([
    ['no JSON', '{', 400],
    ['a batch', `[${listTools}]`, 400],
    ['a number', '7', 400],
    ['null', 'null', 400],
    ['more than 4 MB', `{"x":"${'x'.repeat(5_000_000)}"}`, 413],
  ])('rejects %s', async (_name, body, status) => expect((await post(body)).status).toBe(status));

  const callTool = (given: string) =>
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_job","arguments":${given}}}`;

  test('rejects more values than other bodies may have, and names that the protocol would copy', async () => {
    const values = await post(callTool(`{"job_id":[${'{},'.repeat(200_000)}{}]}`));
    expect([values.status, await values.text()]).toEqual([
      413,
      expect.stringContaining('more values'),
    ]);
    const names = Array.from({ length: 101 }, (_, index) => `"a${index}":1`).join();
    for (const body of [callTool(`{${names}}`), `{"params":{${names}}}`, `{${names}}`])
      expect((await post(body)).status).toBe(413);
  });

  test('limits messages to 64 KB for keys without the scope submit', async () => {
    const large = callTool(`{"job_id":"${'x'.repeat(70_000)}"}`);
    key = await createKey(['read']);
    expect((await post(listTools)).status).toBe(200);
    const refused = await post(large);
    expect([refused.status, await refused.text()]).toEqual([
      413,
      expect.stringContaining("scope 'submit'"),
    ]);
    key = await createKey(['read', 'submit']);
    expect((await post(large)).status).toBe(200);
  });

  test.each([
    ['no method', '{"jsonrpc":"2.0","id":1}'],
    ['an unknown method', '{"jsonrpc":"2.0","id":1,"method":"x"}'],
    [
      'deep arguments',
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_job","arguments":{"job_id":${'['.repeat(20_000)}${']'.repeat(20_000)}}}}`,
    ],
    [
      'arguments of another type',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_job","arguments":7}}',
    ],
  ])('answers %s with an error, and answers the next request', async (_name, body) => {
    const response = await post(body);
    expect(response.status).toBeLessThan(500);
    expect(await response.text()).toMatch(/error|isError/);
    expect((await post(listTools)).status).toBe(200);
  });

  test('refuses the name of another host on a loopback address, as after DNS rebinding', async () => {
    const statusFor = (host: string) =>
      new Promise((resolve, reject) => {
        const headers = {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          host,
        };
        const sent = httpRequest(url, { method: 'POST', headers }, (response) => {
          response.resume();
          resolve(response.statusCode);
        });
        sent.on('error', reject);
        sent.end(listTools);
      });
    const { port } = new URL(url);
    for (const host of ['evil.example', `evil.example:${port}`, '127.0.0.1.evil.example'])
      expect(await statusFor(host)).toBe(403);
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`])
      expect(await statusFor(host)).not.toBe(403);
  });

  test('refuses compressed messages, and pages of other origins', async () => {
    expect((await post(listTools, { 'content-encoding': 'gzip' })).status).toBe(400);
    expect((await post(listTools, { origin: 'https://evil.example' })).status).toBe(403);
    const allowed = await post(listTools, { origin: 'https://app.example' });
    expect(allowed.status).toBe(200);
    expect(allowed.headers.get('access-control-allow-origin')).toBe('https://app.example');
  });

  test('has no sessions and no streams', async () => {
    for (const method of ['GET', 'DELETE']) {
      const response = await fetch(url, {
        method,
        headers: { authorization: `Bearer ${key}`, accept: 'text/event-stream' },
      });
      expect(response.status).toBe(405);
      expect(response.headers.get('allow')).toBe('POST');
    }
    expect((await post(listTools, { 'mcp-session-id': 'x'.repeat(1000) })).status).toBe(200);
  });

  test('names an invalid max_credits', async () => {
    const response = await fetch(`${url}?max_credits=-1`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: listTools,
    });
    expect(response.status).toBe(422);
    expect(await response.text()).toContain('max_credits');
  });

  test('counts against the rate limit of the key', async () => {
    const statuses = await Promise.all(
      Array.from({ length: 60 }, async () => (await post(listTools)).status),
    );
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
  });
});
