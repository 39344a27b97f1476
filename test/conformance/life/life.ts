import { gunzipSync } from 'node:zlib';
import { parse } from 'content-disposition';
import { afterAll, beforeAll, expect } from 'vitest';
import { origins } from '../../../sandbox/list.ts';
import { type RunningOrigins, startOrigins } from '../../../sandbox/server.ts';
import { findMismatches } from '../../../src/quality/record-schema.ts';
import { resultFields } from '../../support/pages/result-fields.ts';
import { createApi, type TestApi, type TestUser } from '../../support/service/api.ts';
import { createDeployment, type Deployment } from '../../support/service/deployment.ts';
import { until } from '../../support/time/until.ts';

/** JSON of a shape that the test knows. */
// biome-ignore lint/suspicious/noExplicitAny: tests read responses and records of every shape.
export type AnyJson = any;

/** A service on the fake marketplaces. */
export interface Life {
  api: TestApi;
  deployment: Deployment;
  origins: RunningOrigins;
}

/** An accepted job. `id` is its UUID, or its integer for kinds that have one. */
export interface Submitted {
  path: string;
  id: string;
  response: AnyJson;
}

/** A downloaded file. */
export interface Downloaded {
  bytes: Buffer;
  type: string | null;
  /** File name from Content-Disposition. */
  name: string | undefined;
  /** Decompressed content. */
  text: string;
}

const endsWithinMs = 40_000;

/**
 * Starts a service for a test file and runs the audit at the end. `slowMs` is the latency of slow
 * pages.
 */
export function useLife(settings: Record<string, string> = {}, slowMs = 300): () => Life {
  let life: Life;
  beforeAll(async () => {
    const running = await startOrigins({ origins, slowMs });
    const deployment = await createDeployment({
      stack: { distributed: false },
      engines: { settings: {}, mongo: null, nats: null, stop: async () => {} },
      origins: running,
      settings: { GLEANER_RETRIEVE_CACHE: 'off', ...settings },
    });
    life = { api: createApi(deployment), deployment, origins: running };
    await deployment.start();
  });
  afterAll(async () => {
    const audit = await life?.deployment.audit();
    await life?.deployment.stop();
    await life?.origins.stop();
    expect(audit).toMatchObject({ code: 0, problems: [] });
  });
  return () => life;
}

/** Submits to `<path>/submit` with the options in `query`. Throws unless the status is 202. */
export async function submit(
  { api }: Life,
  user: TestUser,
  path: string,
  body: unknown,
  query = '',
): Promise<Submitted> {
  const { status, body: response } = await api.post(user, `${path}/submit${query}`, body);
  if (status !== 202) throw new Error(`${path}: ${status} ${JSON.stringify(response)}`);
  return { path, id: String(response.job_id ?? response.task_id), response };
}

/** Fields of a CSV upload besides the file. */
export interface Upload {
  rescrape?: boolean;
  result_format?: 'csv' | 'jsonl';
}

/** Uploads a CSV and returns status and body. */
export async function upload(
  { deployment }: Life,
  user: TestUser,
  csv: string | Uint8Array,
  fields: Upload = {},
  headers: Record<string, string> = {},
): Promise<{ status: number; body: AnyJson }> {
  const form = new FormData();
  form.set('file', new Blob([csv as string], { type: 'text/csv' }), 'products.csv');
  for (const [name, value] of Object.entries(fields)) form.set(name, String(value));
  const response = await fetch(`${deployment.url}/v1/mkta/get_pc_bulk/submit`, {
    method: 'POST',
    headers: { authorization: `Bearer ${user.key}`, ...headers },
    body: form,
  });
  return { status: response.status, body: await response.json() };
}

/** Uploads rows `region,shop_id,item_id`. Throws unless the status is 202. */
export async function submitRows(
  life: Life,
  user: TestUser,
  rows: readonly string[],
  fields: Upload = {},
): Promise<Submitted> {
  const { status, body } = await upload(
    life,
    user,
    ['region,shop_id,item_id', ...rows, ''].join('\n'),
    fields,
  );
  if (status !== 202) throw new Error(`upload: ${status} ${JSON.stringify(body)}`);
  return { path: '/v1/mkta/get_pc_bulk', id: String(body.task_id), response: body };
}

/** Retrieves a job. Throws unless the status is 200. */
export async function retrieve(
  { api }: Life,
  user: TestUser,
  { path, id }: Submitted,
): Promise<AnyJson> {
  const { status, body } = await api.get(user, `${path}/retrieve/${id}`);
  if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
  return body;
}

const running: readonly string[] = ['awaiting_approval', 'initializing', 'pending', 'processing'];

/** Polls until the job has ended and its file is available. Checks the counts in every response. */
export async function ended(life: Life, user: TestUser, job: Submitted): Promise<AnyJson> {
  let done = 0;
  const wrong: unknown[] = [];
  const last = await until(
    `${job.path} ${job.id} ends`,
    async () => {
      const shown = await retrieve(life, user, job);
      try {
        if (typeof shown.total === 'number') done = checkCounts(shown, done);
      } catch (error) {
        wrong.push(error);
        return shown;
      }
      return running.includes(shown.status) || shown.message ? undefined : shown;
    },
    { withinMs: endsWithinMs },
  );
  if (wrong.length > 0) throw wrong[0];
  return last;
}

interface Counted {
  status: string;
  total: number;
  success: number;
  failed: number;
  pending: number;
  progress?: number;
}

/**
 * Checks that counts add up, never decrease, and match the status. Returns the number of ended
 * units.
 */
function checkCounts(
  { status, total, success, failed, pending, progress }: Counted,
  before: number,
): number {
  const done = success + failed;
  expect(done + pending).toBe(total);
  expect(done).toBeGreaterThanOrEqual(before);
  if (pending > 0) expect(running).toContain(status);
  if (progress !== undefined) {
    // A job with one file ends with its last item; the file is created afterwards.
    expect(running.includes(status)).toBe(pending > 0);
    expect(progress).toBeCloseTo(done / total, 9);
  }
  return done;
}

/** Submits, waits for the end, and returns the last response. */
export async function run(
  life: Life,
  user: TestUser,
  path: string,
  body: unknown,
): Promise<AnyJson> {
  return ended(life, user, await submit(life, user, path, body));
}

/** Downloads a file with or without a user's key. Throws unless the status is 200. */
export async function download(
  life: Life,
  url: string,
  user: TestUser | null = null,
): Promise<Downloaded> {
  const response = await fetch(new URL(url, life.deployment.url), {
    headers: user === null ? {} : { authorization: `Bearer ${user.key}` },
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  if (response.status !== 200) throw new Error(`${url}: ${response.status} ${bytes}`);
  const zipped = bytes[0] === 0x1f && bytes[1] === 0x8b;
  return {
    bytes,
    type: response.headers.get('content-type'),
    name: parse(response.headers.get('content-disposition') ?? '').parameters.filename,
    text: (zipped ? gunzipSync(bytes) : bytes).toString('utf8'),
  };
}

/** Parses a JSON Lines file. Expects a newline at its end. */
export function linesOf({ text }: Pick<Downloaded, 'text'>): AnyJson[] {
  const lines = text.split('\n');
  expect(lines.pop()).toBe('');
  return lines.map((line) => JSON.parse(line));
}

/** Expects records to have the fields of a job type's results, such as "mktb pdp_bulk". */
export function expectFields(jobType: string, records: readonly unknown[]): void {
  for (const record of records) {
    const misses = findMismatches(record, resultFields(jobType));
    expect(misses, `${misses.join('; ')} in ${JSON.stringify(record).slice(0, 300)}`).toEqual([]);
  }
}

/**
 * Expects the ledger of a user with one job to contain the grant, one charge and, if units failed,
 * refunds of `refunded` credits in total, and nothing else.
 */
export async function expectCredits(
  { api }: Life,
  user: TestUser,
  { granted, charged, refunded }: { granted: number; charged: number; refunded: number },
): Promise<void> {
  const entries = await api.ledger(user);
  const amounts = (type: string) =>
    entries.filter((entry) => entry.type === type).map(({ amount }) => amount);
  expect({ charges: amounts('charge'), refunds: amounts('refund') }).toEqual({
    charges: charged === 0 ? [] : [-charged],
    refunds: refunded === 0 ? [] : [refunded],
  });
  expect(await api.balance(user)).toBe(granted - charged + refunded);
}

/** Returns the number of requests so far to a path of a marketplace's region. */
export function requestCount({ origins }: Life, place: string): number {
  return origins.counters()[place] ?? 0;
}
