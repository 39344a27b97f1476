import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { JsonObject } from '../../base/json.ts';
import { findMismatches } from '../../base/record-schema.ts';
import { endedStates } from '../../store/job-states.ts';
import type { DemoJob } from './jobs.ts';

/** Counts of a job's units. */
export interface DemoProgress {
  done: number;
  failed: number;
  total: number;
}

export interface Result extends DemoProgress {
  job: DemoJob;
  id: string;
  cost: number;
  files: { path: string; records: number; bytes: number; sha256: string }[];
  /** Fields missing from its records, one sentence each. */
  misses: string[];
}

/** Connection of the demo to the service. */
export interface DemoApi {
  url: string;
  key: string;
  approve(jobId: string): Promise<void>;
  /** Folder for downloaded results. */
  folder: string;
}

const ended: ReadonlySet<string> = new Set(endedStates);
const pollMs = 250;

/**
 * Submits a job, approves it if it needs approval, polls it until it ends, and saves and checks its results.
 */
export async function runJob(
  job: DemoJob,
  api: DemoApi,
  report: (progress: DemoProgress) => void,
): Promise<Result> {
  const submitted = await call(api, 'POST', job.submitPath, job);
  const id = String(submitted.job_id ?? submitted.task_id);
  if (job.needsApproval) await api.approve(id);
  for (;;) {
    const response = await call(api, 'GET', job.progressPath(id));
    const progress = progressOf(response);
    report(progress);
    if (ended.has(String(response.status)) && !isCompiling(job, response, progress)) {
      return {
        ...progress,
        job,
        id,
        cost: Number(submitted.cost),
        ...(await collect(job, api, id, response)),
      };
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

function isCompiling(job: DemoJob, response: JsonObject, { total, failed }: DemoProgress): boolean {
  return job.files === 'job' && response.download_url === null && failed < total;
}

/** Reads the counts from a response of any kind. */
function progressOf(response: JsonObject): DemoProgress {
  const count = (name: string) => Number(response[name] ?? 0);
  const items = Array.isArray(response.items) ? (response.items as JsonObject[]) : undefined;
  if (items) {
    const failed = items.filter(({ status }) => status === 'FAILED').length;
    return {
      total: items.length,
      failed,
      done: failed + items.filter(({ status }) => status === 'SUCCESS').length,
    };
  }
  if ('total' in response)
    return { total: count('total'), failed: count('failed'), done: count('success') + count('failed') };
  if ('total_items' in response) {
    return {
      total: count('total_items'),
      failed: count('failed_count'),
      done: count('success_count') + count('failed_count'),
    };
  }
  const over = ended.has(String(response.status));
  return { total: 1, done: over ? 1 : 0, failed: response.status === 'failed' ? 1 : 0 };
}

async function collect(
  job: DemoJob,
  api: DemoApi,
  id: string,
  response: JsonObject,
): Promise<Pick<Result, 'files' | 'misses'>> {
  const stem = `${job.title.replaceAll(/[^A-Za-z]+/g, '-').toLowerCase()}-${id.slice(0, 8)}`;
  const files: Result['files'] = [];
  const misses: string[] = [];
  const keep = async (name: string, bytes: Buffer, records: unknown[]) => {
    const path = join(api.folder, name);
    await writeFile(path, bytes);
    files.push({
      path,
      records: records.length,
      bytes: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
    });
    for (const record of records) misses.push(...findMismatches(record, job.fields));
  };
  if (job.files === 'none') {
    if (response.result === undefined) return { files, misses: [`no result: ${String(response.detail)}`] };
    await keep(`${stem}.json`, Buffer.from(JSON.stringify(response.result, null, 1)), [response.result]);
    return { files, misses };
  }
  const urls =
    response.download_url === undefined
      ? (response.items as JsonObject[]).map((item) => item.download_url)
      : [response.download_url];
  for (const [index, url] of urls.entries()) {
    if (typeof url !== 'string') continue;
    const { bytes, type } = await download(api, url);
    const gzipped = bytes[0] === 0x1f && bytes[1] === 0x8b;
    const lines = type !== 'application/json';
    await keep(
      `${stem}${urls.length > 1 ? `-${index + 1}` : ''}.json${lines ? 'l' : ''}${gzipped ? '.gz' : ''}`,
      bytes,
      recordsOf(gzipped ? gunzipSync(bytes) : bytes, lines),
    );
  }
  return { files, misses };
}

/** Returns the records of a JSON file or, with `lines`, a JSON Lines file, except records of failed units. */
function recordsOf(bytes: Buffer, lines: boolean): unknown[] {
  const text = bytes.toString('utf8');
  const parsed: unknown = lines
    ? text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
    : JSON.parse(text);
  const records = (Array.isArray(parsed) ? parsed : [parsed]) as JsonObject[];
  return records.filter((record) => typeof record.error !== 'string');
}

async function download(api: DemoApi, url: string): Promise<{ bytes: Buffer; type: string | null }> {
  const response = await fetch(new URL(url, api.url), { headers: { authorization: `Bearer ${api.key}` } });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return {
    bytes: Buffer.from(await response.arrayBuffer()),
    type: response.headers.get('content-type'),
  };
}

async function call(api: DemoApi, method: string, path: string, job?: DemoJob): Promise<JsonObject> {
  const response = await fetch(`${api.url}${path}`, { method, ...bodyOf(api, job) });
  const payload = (await response.json()) as JsonObject;
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(payload)}`);
  return payload;
}

function bodyOf(api: DemoApi, job: DemoJob | undefined) {
  const authorization = `Bearer ${api.key}`;
  if (job?.csv === undefined) {
    return {
      headers: { authorization, 'content-type': 'application/json' },
      ...(job ? { body: JSON.stringify(job.body) } : {}),
    };
  }
  const body = new FormData();
  body.set('file', new Blob([job.csv], { type: 'text/csv' }), 'products.csv');
  for (const [name, value] of Object.entries(job.body)) body.set(name, String(value));
  return { headers: { authorization }, body };
}
