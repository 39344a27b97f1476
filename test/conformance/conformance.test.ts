import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AccountService } from '../../gen/gleaner/account/v1/account_pb.ts';
import { endpointsOf } from '../../src/contract/endpoint.ts';
import { services } from '../../src/contract/services.ts';
import { bodyCases } from './bodies.ts';
import { type Document, readDocument } from './document.ts';
import { errorCases } from './errors.ts';
import { isMatcher, text } from './matchers.ts';
import { type RestAnswer, referenceForm, sendRest } from './rest.ts';
import { messageOf, type RpcAnswer, type RpcCaller, rpcCaller } from './rpc.ts';
import { openStage, type Stage } from './stage.ts';
import type { Case, Endpoint } from './table.ts';
import { tables } from './tables/list.ts';

let stage: Stage;
let callRpc: RpcCaller;
let document: Document;

beforeAll(async () => {
  stage = await openStage(tables);
  callRpc = rpcCaller(stage.deployment.grpc, stage.keys);
  document = await readDocument(stage.deployment.url);
});

afterAll(() => stage?.close());

describe.each(tables)('$name', ({ endpoints }) => {
  describe.each(endpoints)('$verb $path', (endpoint) => {
    const cases = [...endpoint.cases, ...bodyCases(endpoint), ...errorCases(endpoint)];
    test.for(cases)('$status $title', async (row) => {
      await holdsInRest(endpoint, endpoint.path, row);
      if (endpoint.path !== referenceForm(endpoint.path))
        await holdsInRest(endpoint, referenceForm(endpoint.path), row);
      if (!row.restOnly && endpoint.method !== null) await holdsInRpc(endpoint, row);
    });
  });
});

test('the tables hold every endpoint that the service declares', () => {
  const declared = endpointsOf(services).map(({ verb, path }) => `${verb} ${path}`);
  const listed = tables.flatMap(({ endpoints }) => endpoints.map(({ verb, path }) => `${verb} ${path}`));
  expect(listed.toSorted()).toEqual([...declared, 'GET /health'].toSorted());
});

async function holdsInRest(endpoint: Endpoint, path: string, row: Case): Promise<void> {
  const answer = await sendRest(stage, row.verb ?? endpoint.verb, path, row);
  const told = `${row.verb ?? endpoint.verb} ${path}: ${answer.text.slice(0, 2_000)}`;
  expect(answer.status, told).toBe(row.status);
  expect(answer.headers['x-request-id'], told).toMatch(/\S/);
  for (const [name, wanted] of Object.entries(row.answerHeaders ?? {}))
    expect(answer.headers[name], `${told}: ${name}`).toEqual(wanted);
  const type = (row.status === 200 && row.type) || 'application/json';
  if (row.status !== 204) expect(answer.headers['content-type'], told).toMatch(new RegExp(`^${type}`));
  // A verb that a path does not have is beside the document.
  if (row.verb === undefined) expect(document.complaints(endpoint.verb, path, answer), told).toEqual([]);
  if (isKnown(row) && row.verb === undefined && endpoint.method !== null)
    expect(answer.headers['x-credits-remaining'], told).toMatch(/^\d+$/);
  // Messages are seen in a list alone.
  if (answer.status === 202 && endpoint.method?.parent !== AccountService)
    await holdsLocation(endpoint, path, row, answer);
  if (answer.status === 200 && answer.headers.etag !== undefined) await holdsTag(endpoint, path, row, answer);
  if (row.answer !== undefined) expect(answer.json(), told).toStrictEqual(filled(row.answer));
  if (row.problems !== undefined) expect(problemsIn(answer), told).toStrictEqual(problemsOf(row));
}

/** Whether the caller's key is a user's that works. */
const isKnown = ({ caller = 'user', status }: Case) =>
  ['user', 'other', 'poor'].includes(caller) && status !== 401;

/** What was begun is seen where the answer says, in the form of the request. */
async function holdsLocation(endpoint: Endpoint, path: string, row: Case, answer: RestAnswer): Promise<void> {
  const location = answer.headers.location as string;
  const told = `POST ${path}: ${location}`;
  expect(location?.startsWith('/v1/'), told).toBe(path.startsWith('/v1/'));
  const seen = await sendRest(stage, 'GET', location, { caller: row.caller ?? 'user' });
  expect(seen.status, told).toBe(200);
  const { job_id, task_id } = answer.json();
  expect(seen.json(), `${told}, ${endpoint.path}`).toMatchObject(
    task_id === undefined || job_id !== undefined ? { job_id } : { task_id },
  );
}

/** What is known by its tag is not sent again, unless it has changed since. */
async function holdsTag(endpoint: Endpoint, path: string, row: Case, answer: RestAnswer): Promise<void> {
  const tag = answer.headers.etag as string;
  const headers = { ...row.headers, 'if-none-match': tag };
  const again = await sendRest(stage, endpoint.verb, path, { ...row, headers });
  const told = `${endpoint.verb} ${path}: ${tag}`;
  expect(tag, told).toMatch(/^W\/"[\w-]+"$/);
  if (again.status === 200) expect(again.headers.etag, told).not.toBe(tag);
  else expect([again.status, again.text], told).toEqual([304, '']);
}

async function holdsInRpc({ method }: Endpoint, row: Case): Promise<void> {
  const message = messageOf(method!, row, stage.fill);
  expect(message, 'the request as a message').not.toBeNull();
  const answer = await callRpc(method!, row.caller ?? 'user', message!);
  const told = `${method}: ${JSON.stringify(answer).slice(0, 2_000)}`;
  expect(answer.code, told).toBe(codes[row.status]);
  if (answer.code === 'ok') {
    holdsKnown((answer as { message: unknown }).message, filled(row.answer), told);
  } else {
    const { words, fault } = answer as Exclude<RpcAnswer, { message: unknown }>;
    expect(words, told).toMatch(/\S/);
    expect(fault?.code, told).toBe(faultCodes[row.status]);
    if (row.status === 402) expect(row.answer, told).toMatchObject(fault!.quota!);
    if (row.problems !== undefined) expect(sorted(fault!.problems), told).toEqual(sorted(row.problems));
  }
}

const sorted = (problems: readonly unknown[]) =>
  problems.map((problem) => JSON.stringify(problem)).toSorted();

/** Statuses of REST as codes of RPC. */
const codes: Record<number, string> = {
  200: 'ok',
  202: 'ok',
  400: 'InvalidArgument',
  401: 'Unauthenticated',
  402: 'FailedPrecondition',
  403: 'PermissionDenied',
  404: 'NotFound',
  409: 'Aborted',
  422: 'InvalidArgument',
};

const faultCodes: Record<number, string> = {
  400: 'malformed',
  401: 'unauthenticated',
  402: 'insufficient_credits',
  403: 'forbidden',
  404: 'not_found',
  409: 'conflict',
  422: 'invalid',
};

/** Holds a message to the literal values that the REST answer has, which knows null and absent apart. */
function holdsKnown(message: unknown, wanted: unknown, told: string): void {
  if (isMatcher(wanted)) return;
  for (const [name, value] of Object.entries((wanted ?? {}) as Record<string, unknown>)) {
    if (isMatcher(value) || typeof value === 'object') continue;
    expect((message as Record<string, unknown>)[name], `${told}: ${name}`).toEqual(value);
  }
}

/** The wanted answer with the prepared jobs' ids in it. */
function filled(wanted: unknown): unknown {
  if (typeof wanted === 'string') return stage.fill(wanted);
  if (Array.isArray(wanted)) return wanted.map(filled);
  if (typeof wanted !== 'object' || wanted === null || isMatcher(wanted)) return wanted;
  return Object.fromEntries(Object.entries(wanted).map(([name, value]) => [name, filled(value)]));
}

const byPlace = (left: { loc: unknown }, right: { loc: unknown }) =>
  JSON.stringify(left.loc) < JSON.stringify(right.loc) ? -1 : 1;

function problemsIn(answer: RestAnswer): unknown {
  const { detail, ...others } = answer.json();
  return { ...others, detail: detail.toSorted(byPlace) };
}

function problemsOf({ problems = [] }: Case): unknown {
  return { detail: problems.map(([loc, type]) => ({ loc, msg: text, type })).toSorted(byPlace) };
}
