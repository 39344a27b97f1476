import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AccountService } from '../../gen/gleaner/account/v1/account_pb.ts';
import { endpointsOf } from '../../src/contract/endpoint.ts';
import { services } from '../../src/contract/services.ts';
import { bodyCases } from './bodies.ts';
import { type Document, readDocument } from './document.ts';
import { errorCases } from './errors.ts';
import { isMatcher, text } from './matchers.ts';
import { type RestResponse, referenceForm, sendRest } from './rest.ts';
import { createRpcCaller, messageOf, metadataOf, type RpcCaller, type RpcResponse } from './rpc.ts';
import { openStage, type Stage } from './stage.ts';
import type { Case, Endpoint, ProblemRow } from './table.ts';
import { tables } from './tables/list.ts';

let stage: Stage;
let callRpc: RpcCaller;
let document: Document;

beforeAll(async () => {
  stage = await openStage(tables);
  callRpc = createRpcCaller(stage.deployment.grpc, stage.keys);
  document = await readDocument(stage.deployment.url);
});

afterAll(() => stage?.close());

describe.each(tables)('$name', ({ endpoints }) => {
  describe.each(endpoints)('$verb $path', (endpoint) => {
    const cases = [...endpoint.cases, ...bodyCases(endpoint), ...errorCases(endpoint)];
    test.for(cases)('$status $title', async (row) => {
      await checkRest(endpoint, endpoint.path, row);
      if (endpoint.path !== referenceForm(endpoint.path))
        await checkRest(endpoint, referenceForm(endpoint.path), row);
      if (!row.restOnly && endpoint.method !== null) await checkRpc(endpoint, row);
    });
  });
});

test('the tables cover every endpoint that the service declares', () => {
  const declared = endpointsOf(services).map(({ verb, path }) => `${verb} ${path}`);
  const listed = tables.flatMap(({ endpoints }) =>
    endpoints.map(({ verb, path }) => `${verb} ${path}`),
  );
  expect(listed.toSorted()).toEqual([...declared, 'GET /health'].toSorted());
});

async function checkRest(endpoint: Endpoint, path: string, row: Case): Promise<void> {
  const response = await sendRest(stage, row.verb ?? endpoint.verb, path, row);
  const label = `${row.verb ?? endpoint.verb} ${path}: ${response.text.slice(0, 2_000)}`;
  expect(response.status, label).toBe(row.status);
  expect(response.headers['x-request-id'], label).toMatch(/\S/);
  for (const [name, wanted] of Object.entries(row.responseHeaders ?? {}))
    expect(response.headers[name], `${label}: ${name}`).toEqual(wanted);
  const type = (row.status === 200 && row.type) || 'application/json';
  if (row.status !== 204)
    expect(String(response.headers['content-type']).startsWith(type), label).toBe(true);
  // The document does not describe verbs that a path does not have.
  if (row.verb === undefined)
    expect(document.violations(endpoint.verb, path, response), label).toEqual([]);
  if (isKnown(row) && row.verb === undefined && endpoint.method !== null)
    expect(response.headers['x-credits-remaining'], label).toMatch(/^\d+$/);
  // Webhook messages have no separate resource.
  if (response.status === 202 && endpoint.method?.parent !== AccountService)
    await checkLocation(endpoint, path, row, response);
  if (response.status === 200 && response.headers.etag !== undefined)
    await checkTag(endpoint, path, row, response);
  if (row.response !== undefined)
    expect(response.json(), label).toStrictEqual(filled(row.response));
  if (row.status in faultCodes) {
    const ids = { code: codeOf(row), request_id: response.headers['x-request-id'] };
    expect(response.json(), label).toMatchObject(ids);
  }
  if (row.problems !== undefined)
    expect(problemsIn(response), label).toStrictEqual(problemsOf(row));
}

/** Returns true if the caller has the valid key of a user. */
const isKnown = ({ caller = 'user', status }: Case) =>
  ['user', 'other', 'poor'].includes(caller) && status !== 401;

/** Checks that `Location` leads to the job or task, in the same path form as the request. */
async function checkLocation(
  endpoint: Endpoint,
  path: string,
  row: Case,
  response: RestResponse,
): Promise<void> {
  const location = response.headers.location as string;
  const label = `POST ${path}: ${location}`;
  expect(location?.startsWith('/v1/'), label).toBe(path.startsWith('/v1/'));
  const seen = await sendRest(stage, 'GET', location, { caller: row.caller ?? 'user' });
  expect(seen.status, label).toBe(200);
  const { job_id, task_id } = response.json();
  expect(seen.json(), `${label}, ${endpoint.path}`).toMatchObject(
    task_id === undefined || job_id !== undefined ? { job_id } : { task_id },
  );
}

/** Checks that a request with the ETag returns 304, unless the resource has changed. */
async function checkTag(
  endpoint: Endpoint,
  path: string,
  row: Case,
  response: RestResponse,
): Promise<void> {
  const tag = response.headers.etag as string;
  const headers = { ...row.headers, 'if-none-match': tag };
  const again = await sendRest(stage, endpoint.verb, path, { ...row, headers });
  const label = `${endpoint.verb} ${path}: ${tag}`;
  expect(tag, label).toMatch(/^W\/"[\w-]+"$/);
  if (again.status === 200) expect(again.headers.etag, label).not.toBe(tag);
  else expect([again.status, again.text], label).toEqual([304, '']);
}

async function checkRpc({ method }: Endpoint, row: Case): Promise<void> {
  const message = messageOf(method!, row, stage.fill);
  expect(message, 'the request as a message').not.toBeNull();
  const response = await callRpc(method!, row.caller ?? 'user', message!, row.options);
  const label = `${method}: ${JSON.stringify(response).slice(0, 2_000)}`;
  expect(response.code, label).toBe(codes[row.status]);
  if (response.code === 'ok') {
    checkLiterals((response as { message: unknown }).message, filled(row.response), label);
  } else {
    const { words, fault } = response as Exclude<RpcResponse, { message: unknown }>;
    expect(words, label).toMatch(/\S/);
    expect(fault?.code, label).toBe(codeOf(row));
    if (row.status === 402) expect(row.response, label).toMatchObject(fault!.quota!);
    if (row.problems !== undefined)
      expect(sorted(fault!.problems), label).toEqual(sorted(inMetadata(row, row.problems)));
  }
}

const codeOf = ({ status, code = faultCodes[status] }: Case) => code;

/** Returns problems with the locations that RPC has for options of a submission. */
const inMetadata = ({ options = {} }: Case, problems: readonly ProblemRow[]) =>
  problems.map(([[place, name, ...rest], type]): ProblemRow => {
    if (place !== 'query' || !(String(name) in options)) return [[place!, name!, ...rest], type];
    return [['header', metadataOf(String(name))], type];
  });

const sorted = (problems: readonly unknown[]) =>
  problems.map((problem) => JSON.stringify(problem)).toSorted();

/** RPC codes by REST status. */
const codes: Record<number, string> = {
  200: 'ok',
  201: 'ok',
  202: 'ok',
  400: 'InvalidArgument',
  401: 'Unauthenticated',
  402: 'FailedPrecondition',
  403: 'PermissionDenied',
  404: 'NotFound',
  409: 'FailedPrecondition',
  410: 'NotFound',
  422: 'InvalidArgument',
};

const faultCodes: Record<number, string> = {
  400: 'malformed',
  401: 'unauthenticated',
  402: 'insufficient_credits',
  403: 'forbidden',
  404: 'not_found',
  409: 'conflict',
  410: 'results_deleted',
  422: 'invalid',
};

/**
 * Compares a message with the literal values of the REST response. Only REST distinguishes null
 * from absent.
 */
function checkLiterals(message: unknown, wanted: unknown, label: string): void {
  if (isMatcher(wanted)) return;
  for (const [name, value] of Object.entries((wanted ?? {}) as Record<string, unknown>)) {
    if (isMatcher(value) || typeof value === 'object') continue;
    expect((message as Record<string, unknown>)[name], `${label}: ${name}`).toEqual(value);
  }
}

/** Replaces the placeholders of prepared jobs in an expected response. */
function filled(wanted: unknown): unknown {
  if (typeof wanted === 'string') return stage.fill(wanted);
  if (Array.isArray(wanted)) return wanted.map(filled);
  if (typeof wanted !== 'object' || wanted === null || isMatcher(wanted)) return wanted;
  return Object.fromEntries(Object.entries(wanted).map(([name, value]) => [name, filled(value)]));
}

const byPlace = (left: { loc: unknown }, right: { loc: unknown }) =>
  JSON.stringify(left.loc) < JSON.stringify(right.loc) ? -1 : 1;

function problemsIn(response: RestResponse): unknown {
  const { code: _, request_id: __, detail, ...others } = response.json();
  return { ...others, detail: detail.toSorted(byPlace) };
}

function problemsOf({ problems = [] }: Case): unknown {
  return { detail: problems.map(([loc, type]) => ({ loc, msg: text, type })).toSorted(byPlace) };
}
