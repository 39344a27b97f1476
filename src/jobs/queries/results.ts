import type { KeptPage, Outcome } from '../../store/batches.ts';
import type { Job, StoredFile } from '../../store/documents.ts';
import { mergedFileOf } from '../../store/jobs.ts';
import type { Store } from '../../store/store.ts';
import type { JobContext } from '../context.ts';
import { type IndexedUnit, readIndexedBatches, unitsOf } from '../indexed-units.ts';
import { keptUnitsOf } from '../kept-pages.ts';
import { openRecords } from '../records.ts';
import { changedEntries, type OnlyFilter } from './item-changes.ts';
import { readEntries, requireResults } from './rows.ts';

/** A result file and its scope. */
export interface ResultFile {
  file: StoredFile;
  scope: 'job' | 'batch' | 'unit';
  /** Index of the batch, or of the unit in the job. */
  index: number;
  /** Key of the unit. Empty for other scopes. */
  key: string;
  /** Signed URL, valid for 7 days. */
  link: string;
  /** Signed URL of the service to the file, which takes a format; valid for 7 days. */
  recordsLink: string;
}

/**
 * Lists the files of a job: the merged file first, then the files of its batches or units. Empty if
 * they were deleted. Links to files of units also require the owner's Bearer token.
 */
export async function listFiles(
  { store, jobTypes, links }: JobContext,
  job: Job,
): Promise<ResultFile[]> {
  const { files } = jobTypes.of(job).kind;
  const resultFiles: ResultFile[] = [];
  if (job.filesDeletedAt !== null) return resultFiles;
  const add = async (file: StoredFile, scope: ResultFile['scope'], index: number, key: string) => {
    const bearer = scope === 'unit';
    const recordsLink = links.records(job, file, bearer);
    const link = await links.file(job, file, bearer);
    resultFiles.push({
      file,
      scope,
      index,
      key,
      link,
      recordsLink,
    });
  };
  const merged = mergedFileOf(job);
  if (merged) await add(merged, 'job', 0, '');
  if (files.batch) {
    for (const { file, seq } of await store.batches.find({ jobId: job.id }))
      if (file) await add(file, 'batch', seq, '');
  }
  if (files.unit) {
    for await (const { file, index, key } of unitFiles(store, job))
      await add(file, 'unit', index, key);
  }
  return resultFiles;
}

/** Yields the files of a job's units. */
async function* unitFiles(store: Store, job: Job) {
  for await (const indexedBatch of readIndexedBatches(
    store,
    job.id,
    ({ success }) => success > 0,
  )) {
    for (const { outcome, index, unit } of unitsOf(job, indexedBatch)) {
      if (outcome?.status === 'SUCCESS' && outcome.file)
        yield { file: outcome.file, index, key: unit.key };
    }
  }
}

/** Returns the name of a file without its folder. */
export function fileName({ path }: StoredFile): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/**
 * Returns a job's results so far, one JSON line per successful unit in submission order. `record`
 * is copied byte for byte; units with a file have `file` instead. With `only: 'changed'`, leaves
 * out units without an item that changed since the last run; the comparison must be complete. With
 * `provenance`, each line also lists the pages of the result. Holds a few records in memory. Throws
 * `results_deleted`.
 */
export function results(
  context: JobContext,
  job: Job,
  { only = '', provenance = false }: { only?: OnlyFilter; provenance?: boolean | undefined } = {},
): AsyncGenerator<string | Uint8Array> {
  requireResults(job);
  if (only === '') return lines(context, job, provenance);
  return changedLines(context, job);
}

/** Returns the member of a line that marks a reused record. */
function reusedMember({ collectedAt }: { collectedAt?: number }) {
  if (collectedAt === undefined) return {};
  return { collected_at: new Date(collectedAt).toISOString() };
}

/** Returns the member of a line that lists the pages of a result. */
const provenanceMember = (outcome: Outcome | undefined, pages: readonly KeptPage[] = []) => ({
  provenance: {
    reader: outcome?.status === 'SUCCESS' ? outcome.reader : undefined,
    pages: pages.map(({ url, at, status, sha256 }) => ({
      url,
      fetched_at: new Date(at).toISOString(),
      status,
      sha256,
    })),
  },
});

async function* lines(
  context: JobContext,
  job: Job,
  provenance: boolean,
): AsyncGenerator<string | Uint8Array> {
  const { store } = context;
  for await (const indexedBatch of readIndexedBatches(
    store,
    job.id,
    ({ success }) => success > 0,
  )) {
    const records = openRecords(context, indexedBatch.batch);
    const pages = provenance ? await keptUnitsOf(context, job, indexedBatch.batch) : null;
    for (const unit of unitsOf(job, indexedBatch)) {
      const at = unit.index - indexedBatch.first;
      const more = pages === null ? {} : provenanceMember(unit.outcome, pages[at]);
      yield* lineOf(context, job, unit, await records.read(at), more);
    }
  }
}

/**
 * Yields the lines of units with an item that is new, changed, or back again since the last run.
 */
async function* changedLines(context: JobContext, job: Job): AsyncGenerator<string | Uint8Array> {
  let last = -1;
  const entries = changedEntries(context, job, readEntries(context, job, {}));
  for await (const { unit, bytes } of entries) {
    if (unit.index !== last) yield* lineOf(context, job, unit, bytes);
    last = unit.index;
  }
}

/** Yields the parts of a unit's line. None for a unit without a result. */
async function* lineOf(
  context: JobContext,
  job: Job,
  { index, batchId, region, unit, outcome }: IndexedUnit,
  record: Uint8Array | null = null,
  more: object = {},
): AsyncGenerator<string | Uint8Array> {
  if (outcome?.status !== 'SUCCESS') return;
  const { key, input } = unit;
  const line = JSON.stringify({
    index,
    batch_id: batchId,
    key,
    region,
    input,
    ...reusedMember(outcome),
    ...more,
  });
  const start = line.slice(0, -1);
  if (outcome.file) {
    const file = JSON.stringify(await fileJson(context, job, outcome.file));
    yield `${start},"file":${file}}\n`;
    return;
  }
  yield `${start},"record":`;
  yield record ?? 'null';
  yield '}\n';
}

async function fileJson({ links }: JobContext, job: Job, file: NonNullable<Job['file']>) {
  const { contentType, items, bytes, sha256 } = file;
  return {
    name: fileName(file),
    content_type: contentType,
    items,
    bytes,
    sha256,
    download_url: await links.file(job, file, true),
  };
}
