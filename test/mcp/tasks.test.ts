import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCli } from '../../src/cli/run.ts';
import { openSandboxFixture, type SandboxFixture } from '../sandbox/fixture.ts';
import { type Engines, embedded } from '../support/engines/engines.ts';
import type { TestUser } from '../support/service/api.ts';
import { until } from '../support/time/until.ts';
import {
  type ModernResponse,
  modernMessage,
  sendModern,
  tasksExtension,
  withForms,
  withTasks,
} from './modern.ts';

const day = 24 * 3_600_000;

let fixture: SandboxFixture;
let tester: TestUser;
beforeAll(async () => {
  fixture = await openSandboxFixture(false, (await embedded.open()) as Engines, {
    settings: { GLEANER_RETAIN_JOBS_DAYS: '90' },
  });
  tester = fixture.tester;
});
afterAll(() => fixture?.stop());

const send = (
  method: string,
  params: Record<string, unknown>,
  capabilities?: object,
  user = tester,
) => sendModern(fixture.deployment.url, user.key, method, params, capabilities);
/** Sends a message and returns its result. */
const ask = async (...message: Parameters<typeof send>) => {
  const { result, error } = await send(...message);
  if (error !== undefined) throw new Error(JSON.stringify(error));
  return result;
};
const pages = (...digits: string[]) => ({
  items: digits.map((end) => ({ shop_domain: 'toko-7', product_key: `barang-${end}` })),
});
const submit = (given: object, capabilities?: object, user?: TestUser) =>
  ask('tools/call', { name: 'submit_mktb_pdp_bulk', arguments: given }, capabilities, user);
/** Submits a job that awaits approval, and returns the id of its task. */
const submitAwaiting = async (): Promise<string> => {
  const items = [{ item_id: '20000000991', shop_id: '7001' }];
  const call = { name: 'submit_mkta_variant_sold', arguments: { country: 'sg', items } };
  const { taskId, status } = await ask('tools/call', call);
  expect(status).toBe('input_required');
  return taskId;
};
const ended = (taskId: string, user?: TestUser) =>
  until(
    `task ${taskId} ends`,
    async () => {
      const task = await ask('tasks/get', { taskId }, withTasks, user);
      return ['completed', 'failed', 'cancelled'].includes(task.status) ? task : undefined;
    },
    { withinMs: 60_000 },
  );
const texts = (result: { content: { text: string }[] }) =>
  result.content.map(({ text }) => JSON.parse(text));
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);

describe('a submit', () => {
  test('is a task with the id of its job, which ends with the job and its records', async () => {
    const created = await submit(pages('101', '102', '800'));
    expect(created).toMatchObject({
      resultType: 'task',
      createdAt: time,
      lastUpdatedAt: time,
      pollIntervalMs: expect.any(Number),
    });
    for (const name of ['result', 'error', 'inputRequests'])
      expect(created).not.toHaveProperty(name);
    const task = await ended(created.taskId);
    expect(task).toMatchObject({
      resultType: 'complete',
      taskId: created.taskId,
      status: 'completed',
      statusMessage: '2 of 3 units succeeded.',
    });
    const [job, page] = texts(task.result);
    expect(job).toMatchObject({
      job_id: created.taskId,
      status: 'partial_complete',
      success: 2,
      failed: 1,
    });
    expect(page).toMatchObject({
      records: [{ key: 'barang-101' }, { key: 'barang-102' }],
      next_offset: null,
    });
    expect(task.result.isError).toBeUndefined();
  });

  test('that another client made over REST is a task, too', async () => {
    const id = await fixture.submit(tester, '/v1/mktb/pdp/bulk/submit', pages('103'));
    expect((await ended(id)).result.content).toHaveLength(2);
  });

  test('without any result completes with an error result, since only invalid requests fail', async () => {
    const { taskId } = await submit(pages('800'));
    const { status, result } = await ended(taskId);
    expect([status, result.isError, texts(result)[0].status]).toEqual([
      'completed',
      true,
      'failed',
    ]);
  });

  test('by call_method, and a retry, are tasks', async () => {
    const { taskId } = await ask('tools/call', {
      name: 'call_method',
      arguments: {
        method: 'submit_mktb_search_bulk',
        arguments: { items: [{ keyword: 'lamp-807' }] },
      },
    });
    expect((await ended(taskId)).result.isError).toBe(true);
    const retried = await ask('tools/call', {
      name: 'call_method',
      arguments: { method: 'retry_job', arguments: { job_id: taskId } },
    });
    expect(retried).toMatchObject({
      resultType: 'task',
      taskId: expect.not.stringMatching(taskId),
    });
    await ended(retried.taskId);
  });

  test('is no task if it is a quote, is refused, or if the client lacks the extension', async () => {
    const quote = await submit({ ...pages('104'), validate_only: true });
    expect([quote.resultType, texts(quote)[0].accepted]).toEqual(['complete', true]);
    const refused = await submit({ items: [] });
    expect([refused.resultType, refused.isError]).toEqual(['complete', true]);
    const plain = await submit(pages('104'), {});
    expect(plain).not.toHaveProperty('taskId');
    expect([plain.resultType, texts(plain)[0].status]).toEqual(['complete', 'processing']);
    // A key that may not read jobs gets the response with the id.
    const request = { user_id: fixture.user.id, name: 'writer', scopes: ['submit'] };
    const { apiKey } = await fixture.api.operator('CreateApiKey', request);
    const writer = { id: fixture.user.id, key: apiKey };
    const unread = await submit(pages('104'), withTasks, writer);
    expect([unread.resultType, texts(unread)[0].status]).toEqual(['complete', 'processing']);
  });

  test('lives as long as the retention keeps its results', async () => {
    const live = await submit(pages('105'), withTasks, fixture.user);
    const { taskId, ttlMs } = await submit(pages('105'));
    expect([live.ttlMs, ttlMs]).toEqual([null, null]);
    const kept = [await ended(live.taskId, fixture.user), await ended(taskId)].map(
      (task) => task.ttlMs - (Date.parse(task.lastUpdatedAt) - Date.parse(task.createdAt)),
    );
    expect(kept).toEqual([90 * day, 7 * day]);
    await fixture.call(tester, 'DELETE', `/v1/jobs/${taskId}/files`);
    const deleted = await ask('tasks/get', { taskId });
    expect([deleted.ttlMs, deleted.result.content.length]).toEqual([null, 1]);
  });
});

describe('a job that awaits approval', () => {
  test('requires input until an operator decides, and then works', async () => {
    const taskId = await submitAwaiting();
    const { status, inputRequests, statusMessage } = await ask('tasks/get', { taskId });
    expect([status, inputRequests]).toEqual(['input_required', {}]);
    expect(statusMessage).toMatch(/^Awaits the approval of an operator until 2/);
    await fixture.api.operator('ApproveJob', { job_id: taskId });
    expect(await ended(taskId)).toMatchObject({
      status: 'completed',
      statusMessage: '1 of 1 units succeeded.',
    });
  });

  test('asks a client with forms whether to cancel it, and cancels it only then', async () => {
    const taskId = await submitAwaiting();
    const get = () => ask('tasks/get', { taskId }, withForms);
    const { inputRequests } = await get();
    const { method, params } = inputRequests.approval;
    expect([method, params.mode, params.message]).toEqual([
      'elicitation/create',
      'form',
      expect.stringContaining(taskId),
    ]);
    expect(Object.keys(params.requestedSchema.properties)).toEqual(['cancel']);
    const ignored = [
      {},
      { other: { action: 'accept', content: { cancel: true } } },
      { approval: { action: 'accept', content: { cancel: false } } },
      { approval: { action: 'decline' } },
      { approval: { action: 'cancel', content: { cancel: true } } },
      { approval: 'cancel' },
      7,
    ];
    for (const inputResponses of ignored) {
      expect(await ask('tasks/update', { taskId, inputResponses })).toMatchObject({
        resultType: 'complete',
      });
      expect((await get()).status).toBe('input_required');
    }
    const inputResponses = { approval: { action: 'accept', content: { cancel: true } } };
    const acknowledged = await ask('tasks/update', { taskId, inputResponses });
    expect(Object.keys(acknowledged).sort()).toEqual(['_meta', 'resultType']);
    expect(await get()).toMatchObject({
      status: 'cancelled',
      statusMessage: expect.stringMatching(/^Rejected/),
    });
    // Not outstanding any more.
    await ask('tasks/update', { taskId, inputResponses });
  });

  test('requests no input from a client that supports URL elicitation only', async () => {
    const taskId = await submitAwaiting();
    const task = await ask('tasks/get', { taskId }, { ...withTasks, elicitation: { url: {} } });
    expect(task.inputRequests).toEqual({});
    await ask('tasks/cancel', { taskId });
  });

  test('is polled less and less often', async () => {
    const taskId = await submitAwaiting();
    const { pollIntervalMs } = await ask('tasks/get', { taskId });
    expect(pollIntervalMs).toBeGreaterThanOrEqual(1_000);
    expect(pollIntervalMs).toBeLessThan(20_000);
    await ask('tasks/cancel', { taskId });
  });
});

describe('tasks/cancel', () => {
  test('cancels a job, and changes nothing once it has ended', async () => {
    const { taskId } = await submit(pages(...Array.from({ length: 200 }, () => '900')));
    const acknowledged = await ask('tasks/cancel', { taskId });
    expect(Object.keys(acknowledged).sort()).toEqual(['_meta', 'resultType']);
    const task = await ended(taskId);
    expect(task).toMatchObject({
      status: 'cancelled',
      statusMessage: expect.stringMatching(/^Cancelled\. \d+ of 200/),
    });
    expect(await ask('tasks/cancel', { taskId })).toEqual(acknowledged);
    expect(await ask('tasks/get', { taskId })).toEqual(task);
  });

  test('needs the scope submit', async () => {
    const { taskId } = await submit(pages('106'), withTasks, fixture.user);
    const { apiKey } = await fixture.api.operator('CreateApiKey', {
      user_id: fixture.user.id,
      name: 'reader',
      scopes: ['read'],
    });
    const reader = { id: fixture.user.id, key: apiKey };
    expect((await ask('tasks/get', { taskId }, withTasks, reader)).taskId).toBe(taskId);
    const request = { country: 'sg', items: [{ item_id: '20000000101', shop_id: '7001' }] };
    const awaiting = await fixture.submit(fixture.user, '/v1/mkta/variant_sold_v1/submit', request);
    const { error } = await send('tasks/cancel', { taskId: awaiting }, withTasks, reader);
    expect(error).toMatchObject({ code: -32602, data: { code: 'forbidden' } });
  });
});

describe('the methods of tasks', () => {
  const methods = ['tasks/get', 'tasks/update', 'tasks/cancel'];
  const errorsOf = async (
    taskId: unknown,
    capabilities?: object,
  ): Promise<ModernResponse['error'][]> =>
    Promise.all(
      methods.map(
        async (method) => (await send(method, { taskId, inputResponses: {} }, capabilities)).error,
      ),
    );

  test("do not find another user's job, an unknown one, and what is no id", async () => {
    const other = await fixture.submit(fixture.user, '/v1/mktb/pdp/bulk/submit', pages('107'));
    for (const taskId of [other, crypto.randomUUID(), 'x', '', 'x'.repeat(300), '__proto__'])
      for (const error of await errorsOf(taskId))
        expect(error, taskId).toMatchObject({ code: -32602 });
    expect((await fixture.job(fixture.user, other)).status).not.toBe('terminated');
    for (const error of await errorsOf(7)) expect(error).toMatchObject({ code: -32602 });
  });

  test('require the extension, which the server announces', async () => {
    const { taskId } = await submit(pages('108'));
    for (const error of await errorsOf(taskId, {}))
      expect(error).toMatchObject({
        code: -32021,
        data: { requiredCapabilities: { extensions: { [tasksExtension]: {} } } },
      });
    const { capabilities } = await ask('server/discover', {});
    expect(capabilities).toEqual({ tools: {}, extensions: { [tasksExtension]: {} } });
  });

  test('do not exist in earlier versions of the protocol', async () => {
    const headers = { accept: 'application/json, text/event-stream' };
    const post = async (method: string, params: object) => {
      const message = { jsonrpc: '2.0', id: 1, method, params };
      const response = await fetch(`${fixture.deployment.url}/mcp`, {
        method: 'POST',
        headers: {
          ...headers,
          'content-type': 'application/json',
          authorization: `Bearer ${tester.key}`,
        },
        body: JSON.stringify(message),
      });
      return JSON.parse(/^data: (.*)$/m.exec(await response.text())![1]!);
    };
    const { taskId } = await submit(pages('109'));
    for (const method of methods) expect((await post(method, { taskId })).error.code).toBe(-32601);
    const started = {
      protocolVersion: '2025-11-25',
      clientInfo: { name: 'x', version: '1' },
      capabilities: withTasks,
    };
    expect((await post('initialize', started)).result.capabilities).toEqual({ tools: {} });
    const call = { name: 'submit_mktb_pdp_bulk', arguments: pages('109') };
    expect((await post('tools/call', call)).result).not.toHaveProperty('taskId');
  });
});

test('over stdio, tasks are those of the service', async () => {
  const id = await fixture.submit(tester, '/v1/mktb/pdp/bulk/submit', pages('110'));
  await fixture.ended(tester, id);
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const exited = runCli(['mcp'], {
    stdin,
    stdout,
    stderr: process.stderr,
    folder: '/nonexistent',
    home: '/nonexistent',
    env: { GLEANER_URL: fixture.deployment.url, GLEANER_API_KEY: tester.key },
    signal: new AbortController().signal,
  });
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  const call = async (...message: Parameters<typeof modernMessage>): Promise<ModernResponse> => {
    stdin.write(`${modernMessage(...message)}\n`);
    return JSON.parse((await lines.next()).value!);
  };
  const { result } = await call('tasks/get', { taskId: id });
  expect(texts(result.result)[0]).toMatchObject({ job_id: id, success: 1 });
  const created = await call('tools/call', {
    name: 'submit_mktb_pdp_bulk',
    arguments: pages('111'),
  });
  expect(created.result.resultType).toBe('task');
  await ended(created.result.taskId);
  expect((await call('tasks/get', { taskId: crypto.randomUUID() })).error).toMatchObject({
    code: -32602,
  });
  stdin.end();
  expect(await exited).toBe(0);
});
