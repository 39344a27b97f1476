import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import type { JsonObject } from '../../base/json.ts';
import { linesOf } from '../../base/read-lines.ts';
import type { Kind } from '../../kinds/kind.ts';
import { findMismatches } from '../../quality/record-schema.ts';
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
 * Submits a job, approves it if it needs approval, polls it until it ends, and saves and checks its
 * results.
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
    return {
      total: count('total'),
      failed: count('failed'),
      done: count('success') + count('failed'),
    };
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
  const collected: Pick<Result, 'files' | 'misses'> = { files: [], misses: [] };
  if (job.files === 'none') {
    const { result, detail } = response;
    if (result === undefined) return { files: [], misses: [`no result: ${String(detail)}`] };
    const bytes = Buffer.from(JSON.stringify(result, null, 1));
    await keepFile(job, join(api.folder, `${stem}.json`), { bytes, records: [result] }, collected);
    return collected;
  }
  const urls = downloadUrls(response);
  for (const [index, url] of urls.entries()) {
    if (typeof url !== 'string') continue;
    const number = urls.length > 1 ? `-${index + 1}` : '';
    const { extension, ...file } = resultFile(await download(api, url));
    await keepFile(job, join(api.folder, `${stem}${number}.${extension}`), file, collected);
  }
  return collected;
}

/** Returns the addresses of a job's files: one, or one for each item. */
function downloadUrls({ download_url, items }: JsonObject): unknown[] {
  if (download_url !== undefined) return [download_url];
  return (items as JsonObject[]).map((item) => item.download_url);
}

/** A downloaded file, and its JSON values. */
export interface DownloadedFile {
  bytes: Buffer;
  records: unknown[];
}

/** Reads a downloaded file of JSON or JSON Lines, which may be compressed. */
function resultFile({
  bytes,
  type,
}: {
  bytes: Buffer;
  type: string | null;
}): DownloadedFile & { extension: string } {
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  const hasLines = type !== 'application/json';
  const records = recordsOf(isGzip ? gunzipSync(bytes) : bytes, hasLines);
  return { bytes, records, extension: `json${hasLines ? 'l' : ''}${isGzip ? '.gz' : ''}` };
}

/** Writes a file, and adds it and the mismatches of its records. */
async function keepFile(
  job: DemoJob,
  path: string,
  file: DownloadedFile,
  { files, misses }: Pick<Result, 'files' | 'misses'>,
): Promise<void> {
  const { bytes, records } = file;
  await writeFile(path, bytes);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const count = await countRecords(job.jobType.kind, file);
  files.push({
    path,
    records: count,
    bytes: bytes.length,
    sha256,
  });
  for (const record of records) misses.push(...findMismatches(record, job.fields));
}

/** Returns the number of records in a file. For a listing, the number of its entries. */
export async function countRecords(
  { files }: Kind,
  { bytes, records }: DownloadedFile,
): Promise<number> {
  if (files.unit === undefined) return records.length;
  const entries = files.unit.entries(linesOf(Readable.from([bytes])));
  return (await Array.fromAsync(entries)).length;
}

/**
 * Returns the records of a JSON file or, with `lines`, a JSON Lines file, except records of failed
 * units.
 */
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

async function download(
  api: DemoApi,
  url: string,
): Promise<{ bytes: Buffer; type: string | null }> {
  const response = await fetch(new URL(url, api.url), {
    headers: { authorization: `Bearer ${api.key}` },
  });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return {
    bytes: Buffer.from(await response.arrayBuffer()),
    type: response.headers.get('content-type'),
  };
}

async function call(
  api: DemoApi,
  method: string,
  path: string,
  job?: DemoJob,
): Promise<JsonObject> {
  const response = await fetch(`${api.url}${path}`, { method, ...bodyOf(api, job) });
  const payload = (await response.json()) as JsonObject;
  if (!response.ok)
    throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(payload)}`);
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
