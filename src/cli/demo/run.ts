import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { JsonObject } from '../../base/json.ts';
import { missesOf, shapes } from './shapes.ts';
import type { Work } from './works.ts';

/** How far a work has come. */
export interface Progress {
  done: number;
  failed: number;
  total: number;
}

/** What a work came to. */
export interface Result extends Progress {
  work: Work;
  id: string;
  cost: number;
  files: { path: string; records: number; bytes: number; sha256: string }[];
  /** What its files lack of the interface's shape. */
  misses: string[];
}

/** How the demo reaches the service. */
export interface DemoApi {
  url: string;
  key: string;
  approve(jobId: string): Promise<void>;
  /** Folder that results are saved in. */
  folder: string;
}

const ended = ['completed', 'partial_complete', 'failed', 'rejected', 'terminated'];
const pollMs = 250;

/** Submits a work, has it approved where that is due, follows it to its end, and saves and checks its files. */
export async function runWork(
  work: Work,
  api: DemoApi,
  report: (progress: Progress) => void,
): Promise<Result> {
  const submitted = await call(api, 'POST', `${work.path}/submit`, work);
  const id = String(submitted.job_id ?? submitted.task_id);
  if (work.approval) await api.approve(id);
  const poll = `${work.path}/${work.form === 'items' ? 'download' : 'retrieve'}/${id}`;
  for (;;) {
    const answer = await call(api, 'GET', poll);
    const progress = progressOf(answer);
    report(progress);
    if (ended.includes(String(answer.status)) && !isCompiling(work, answer, progress)) {
      return {
        ...progress,
        work,
        id,
        cost: Number(submitted.cost),
        ...(await collect(work, api, id, answer)),
      };
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

function isCompiling(work: Work, answer: JsonObject, { total, failed }: Progress): boolean {
  return ['items', 'file'].includes(work.form) && answer.download_url === null && failed < total;
}

/** Reads the counts of any retrieve answer. */
function progressOf(answer: JsonObject): Progress {
  const count = (name: string) => Number(answer[name] ?? 0);
  const items = Array.isArray(answer.items) ? (answer.items as JsonObject[]) : undefined;
  if (items) {
    const failed = items.filter(({ status }) => status === 'FAILED').length;
    return {
      total: items.length,
      failed,
      done: failed + items.filter(({ status }) => status === 'SUCCESS').length,
    };
  }
  if ('total' in answer)
    return { total: count('total'), failed: count('failed'), done: count('success') + count('failed') };
  if ('total_items' in answer) {
    return {
      total: count('total_items'),
      failed: count('failed_count'),
      done: count('success_count') + count('failed_count'),
    };
  }
  const over = ended.includes(String(answer.status));
  return { total: 1, done: over ? 1 : 0, failed: answer.status === 'failed' ? 1 : 0 };
}

async function collect(
  work: Work,
  api: DemoApi,
  id: string,
  answer: JsonObject,
): Promise<Pick<Result, 'files' | 'misses'>> {
  const stem = `${work.title.replaceAll(/[^A-Za-z]+/g, '-').toLowerCase()}-${id.slice(0, 8)}`;
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
    for (const record of records) misses.push(...missesOf(record, shapes[work.shape]));
  };
  if (work.form === 'task') {
    if (answer.result === undefined) return { files, misses: [`no result: ${String(answer.detail)}`] };
    await keep(`${stem}.json`, Buffer.from(JSON.stringify(answer.result, null, 1)), [answer.result]);
    return { files, misses };
  }
  const urls =
    answer.download_url === undefined
      ? (answer.items as JsonObject[]).map((item) => item.download_url)
      : [answer.download_url];
  for (const [index, url] of urls.entries()) {
    if (typeof url !== 'string') continue;
    const bytes = await download(api, url);
    const gzipped = bytes[0] === 0x1f && bytes[1] === 0x8b;
    const lines = work.form === 'file';
    await keep(
      `${stem}${urls.length > 1 ? `-${index + 1}` : ''}.json${lines ? 'l' : ''}${gzipped ? '.gz' : ''}`,
      bytes,
      recordsOf(gzipped ? gunzipSync(bytes) : bytes, work, lines),
    );
  }
  return { files, misses };
}

/** The records of a file that stand for a result: failed items have none. */
function recordsOf(bytes: Buffer, work: Work, lines: boolean): unknown[] {
  const text = bytes.toString('utf8');
  const parsed: unknown = lines
    ? text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
    : JSON.parse(text);
  const records = (Array.isArray(parsed) ? parsed : [parsed]) as JsonObject[];
  const good = records.filter((record) => typeof record.error !== 'string');
  return work.csv === undefined ? good : good.map(({ response }) => response);
}

async function download(api: DemoApi, url: string): Promise<Buffer> {
  const response = await fetch(new URL(url, api.url), { headers: { authorization: `Bearer ${api.key}` } });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return Buffer.from(await response.arrayBuffer());
}

async function call(api: DemoApi, method: string, path: string, work?: Work): Promise<JsonObject> {
  const response = await fetch(`${api.url}${path}`, { method, ...bodyOf(api, work) });
  const answer = (await response.json()) as JsonObject;
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`);
  return answer;
}

function bodyOf(api: DemoApi, work: Work | undefined) {
  const authorization = `Bearer ${api.key}`;
  if (work?.csv === undefined) {
    return {
      headers: { authorization, 'content-type': 'application/json' },
      ...(work ? { body: JSON.stringify(work.body) } : {}),
    };
  }
  const body = new FormData();
  body.set('file', new Blob([work.csv], { type: 'text/csv' }), 'products.csv');
  for (const [name, value] of Object.entries(work.body)) body.set(name, String(value));
  return { headers: { authorization }, body };
}
