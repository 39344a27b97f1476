import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApi, sendJson, type TestApi, type TestUser } from '../support/service/api.ts';
import { referenceForm, sendRest } from './rest.ts';
import { createRpcCaller, messageOf } from './rpc.ts';
import { openStage, type Stage } from './stage.ts';
import { tables } from './tables/list.ts';

// Requests that every endpoint refuses.
let stage: Stage;
let api: TestApi;

beforeAll(async () => {
  stage = await openStage(tables);
  api = createApi(stage.deployment);
});

afterAll(() => stage?.close());

test('every endpoint refuses a suspended user and a revoked key; a resumed user is accepted again', async () => {
  const user = await api.createUser(1_000);
  const suspend = (suspended: boolean) =>
    api.operator('SuspendUser', { user_id: user.id, suspended });
  await suspend(true);
  await refusedEverywhere(user);
  await suspend(false);
  expect((await api.get(user, '/v1/account')).status).toBe(200);
  const { body } = await api.get(user, '/v1/account/keys');
  const revoked = await sendJson(
    'DELETE',
    `${stage.deployment.url}/v1/account/keys/${body.keys[0].key_id}`,
    user.key,
  );
  expect(revoked.status).toBe(200);
  await refusedEverywhere(user);
});

async function refusedEverywhere({ key }: TestUser): Promise<void> {
  const keys = { ...stage.keys, user: key };
  const callRpc = createRpcCaller(stage.deployment.grpc, keys);
  for (const { verb, path, method, cases } of tables.flatMap(({ endpoints }) => endpoints)) {
    if (method === null) continue;
    const request = { ...cases[0], caller: 'user' as const };
    for (const form of [path, referenceForm(path)]) {
      const { status, headers } = await sendRest({ ...stage, keys }, verb, form, request);
      expect([status, headers['x-credits-remaining']], `${verb} ${form}`).toEqual([401, undefined]);
    }
    const message = messageOf(method, request, stage.fill)!;
    expect((await callRpc(method, 'user', message)).code, String(method)).toBe('Unauthenticated');
  }
}

test('operator lists reject invalid page tokens and filters over HTTP', async () => {
  const jobs = (method: string, body: object) =>
    sendJson(
      'POST',
      `${stage.deployment.url}/gleaner.job.v1.JobService/${method}`,
      stage.deployment.operatorKey,
      body,
    );
  const units = (body: object) =>
    jobs('ListUnits', { job_id: stage.fill('{items done}'), ...body });
  const lists = {
    ListUsers: (body: object) => api.tryOperator('ListUsers', body),
    ListLedgerEntries: (body: object) => api.tryOperator('ListLedgerEntries', body),
    ListDeliveries: (body: object) => api.tryOperator('ListDeliveries', body),
    ListJobs: (body: object) => jobs('ListJobs', body),
    ListUnits: units,
  };
  for (const [list, call] of Object.entries(lists)) {
    for (const token of ['x', 'MTIz', '%00', '\u0000', '9'.repeat(400)]) {
      const { status, body } = await call({ page_token: token });
      expect([status, body.code], `${list} ${token}`).toEqual([400, 'invalid_argument']);
      expect(body.message).toContain('page_token');
    }
  }
  for (const [word, value] of Object.entries({ status: 'done', kind: 'all', market: 'mktz' })) {
    const { status, body } = await jobs('ListJobs', { [word]: value });
    expect([status, body.code], word).toEqual([400, 'invalid_argument']);
    expect(body.message).toContain(word);
  }
});
