import { sha256 } from '../../src/base/id.ts';
import { audit } from '../../src/jobs/queries/audit.ts';
import { readRecords } from '../../src/jobs/records.ts';
import { batchFile } from '../../src/kinds/variant-sold/index.ts';
import type { Batch, Outcome, Unit } from '../../src/store/batches.ts';
import type { Job, LedgerEntry, StoredFile } from '../../src/store/documents.ts';
import { unitStatus } from '../../src/store/job-states.ts';
import type { Store } from '../../src/store/store.ts';
import { contextWith } from '../support/jobs/context.ts';
import { jobTypes } from './actors.ts';
import type { History, IntendedJob } from './clients.ts';
import type { FeedReaders } from './feeds.ts';
import { checkHistories } from './histories.ts';
import {
  exists,
  mayVanish,
  type ServedPages,
  type SharedFiles,
  type SimulatedReceiver,
} from './outside.ts';
import { checkReuse } from './reuse.ts';
import type { Comparison } from './witness.ts';

/** A job with its batches and ledger entries. */
interface WholeJob {
  job: Job;
  batches: Batch[];
  entries: LedgerEntry[];
}

/** Final state of a run. */
export interface FinalState {
  store: Store;
  files: SharedFiles;
  receiver: SimulatedReceiver;
  served: ServedPages;
  comparisons: ReadonlyMap<string, Comparison>;
  feeds: FeedReaders;
  history: History;
  /** Owners of jobs. */
  userIds: readonly string[];
}

const page = { limit: 10_000 };

/**
 * Checks the invariants of the service at the end of a run. Returns a sentence for each broken one.
 */
export async function brokenInvariants(state: FinalState): Promise<string[]> {
  const { store, files, receiver, served, comparisons, feeds, history, userIds } = state;
  const { problems } = await audit(store);
  const { items: entries } = await store.ledger.list({}, page);
  const { items: jobs } = await store.jobs.list({}, page);
  const whole: WholeJob[] = [];
  for (const job of jobs) {
    const batches = await Array.fromAsync(store.batches.read(job.id));
    whole.push({ job, batches, entries: entries.filter(({ jobId }) => jobId === job.id) });
  }
  for (const userId of userIds) {
    const own = entries.filter((entry) => entry.userId === userId);
    const balance = (await store.users.get(userId))!.balance;
    if (balance !== sum(own))
      problems.push(`user ${userId}: balance ${balance}, ledger ${sum(own)}`);
  }
  for (const each of whole) {
    const report = (problem: string) =>
      problems.push(`job ${each.job.id} (${each.job.kind}): ${problem}`);
    if (each.job.finishedAt === null) {
      report(`still ${each.job.state}`);
      continue;
    }
    checkCredits(each, report);
    checkUnits(each, report);
    await checkFiles(store, files, each, report);
    checkNotice(receiver, each.job, report);
  }
  problems.push(...checkSubmits(history, whole), ...checkGrants(history, entries));
  // Records cannot be read if a file is missing, which was reported above.
  if (problems.length > 0) return problems;
  problems.push(
    ...(await checkReuse(contextWith({ store, blobs: files.blobs, jobTypes }), served, jobs)),
  );
  problems.push(
    ...(await checkHistories(
      contextWith({ store, blobs: files.blobs, jobTypes }),
      comparisons,
      jobs,
    )),
    ...(await feeds.check()),
  );
  return problems;
}

const sum = (entries: readonly LedgerEntry[]) =>
  entries.reduce((total, { amount }) => total + amount, 0);

const outcomesOf = ({
  batches,
}: WholeJob): { unit: Unit; outcome: Outcome | undefined; batch: Batch; index: number }[] =>
  batches.flatMap((batch) =>
    batch.units.map((unit, index) => ({ unit, outcome: batch.outcomes[index], batch, index })),
  );

function checkCredits(each: WholeJob, report: (problem: string) => void): void {
  const { job, entries } = each;
  const done = outcomesOf(each).filter(({ outcome }) => outcome?.status === 'SUCCESS').length;
  const charged = -sum(entries.filter(({ type }) => type === 'charge'));
  const refunded = sum(entries.filter(({ type }) => type === 'refund'));
  const earned = done * job.unitPrice - discountOf(each);
  if (charged !== earned + refunded)
    report(`charged ${charged}, earned ${earned}, refunded ${refunded}`);
  if (charged !== job.cost && job.state !== 'rejected')
    report(`costs ${job.cost}, charged ${charged}`);
  if (job.refunded !== refunded) report(`says ${job.refunded} refunded, the ledger ${refunded}`);
}

/**
 * Returns the credits that the reused units of a job cost less, at half the price of the others.
 */
function discountOf(each: WholeJob): number {
  const isReused = (outcome: Outcome | undefined) =>
    outcome?.status === 'SUCCESS' && outcome.collectedAt !== undefined;
  return (
    outcomesOf(each).filter(({ outcome }) => isReused(outcome)).length *
    Math.floor(each.job.unitPrice / 2)
  );
}

/**
 * Checks that units fail only if the item does not exist, the job was stopped, or the queue refused
 * the batch.
 */
function checkUnits(each: WholeJob, report: (problem: string) => void): void {
  const units = outcomesOf(each);
  const unqueued = units.filter(
    ({ outcome }) => outcome?.status === 'FAILED' && outcome.code === 'not_queued',
  );
  // A batch that cannot be queued waits. A submission fails only if no batch can be queued.
  if (unqueued.length > 0 && unqueued.length < units.length)
    report(`${unqueued.length} of ${units.length} units failed because they were not queued`);
  if (units.length !== each.job.totalUnits)
    report(`has ${units.length} of ${each.job.totalUnits} units`);
  for (const { unit, outcome } of units) {
    if (outcome === undefined) report(`unit ${unit.key} has no outcome`);
    const id = String(unit.input.item_id ?? unit.input.shop_id);
    const known = exists(id);
    if (outcome?.status === 'SUCCESS' && !known)
      report(`unit ${unit.key} succeeded, and does not exist`);
    if (
      outcome?.status === 'FAILED' &&
      outcome.code === 'page_not_found' &&
      known &&
      !mayVanish(id)
    )
      report(`unit ${unit.key} was not found, and exists`);
    if (
      outcome?.status === 'FAILED' &&
      (outcome.code === 'internal' || outcome.code === 'unavailable')
    )
      report(`unit ${unit.key} failed as ${outcome.code}: ${outcome.message}`);
  }
}

async function checkFiles(
  store: Store,
  { files, blobs }: SharedFiles,
  each: WholeJob,
  report: (problem: string) => void,
): Promise<void> {
  const { job, batches } = each;
  const contentOf = (file: StoredFile): string => {
    const content = files.get(file.path);
    if (content === undefined) report(`file ${file.path} is missing`);
    else if (sha256(content) !== file.sha256 || content.length !== file.bytes)
      report(`file ${file.path} has other bytes than the store says`);
    return content?.toString() ?? '';
  };
  const payloads = new Map<string, string>();
  for (const batch of batches) {
    if (batch.file && sha256(batchContent(files, job, batch)) !== batch.file.sha256)
      report(`file ${batch.file.path} has other bytes than the store says`);
    try {
      for await (const [index, body] of readRecords(contextWith({ store, blobs }), batch))
        payloads.set(`${batch.id} ${index}`, Buffer.from(body).toString());
    } catch (error) {
      report((error as Error).message);
    }
  }
  for (const { outcome, unit, batch, index } of outcomesOf(each)) {
    if (outcome?.status !== 'SUCCESS') continue;
    const inFile = outcome.file ? contentOf(outcome.file) : payloads.get(`${batch.id} ${index}`);
    const id = String(unit.input.item_id ?? unit.input.shop_id);
    if (!inFile?.includes(`"itemId":"${id}"`))
      report(`unit ${unit.key} succeeded and has no result`);
  }
  const expected = outcomesOf(each).map(({ unit, outcome, batch, index }) => {
    const status = unitStatus(outcome, job);
    return `${unit.input.item_id} ${status === 'SUCCESS' ? payloads.get(`${batch.id} ${index}`) : status}`;
  });
  const succeeded = outcomesOf(each).some(({ outcome }) => outcome?.status === 'SUCCESS');
  if (job.file === null) {
    if (job.kind === 'variant_sold' && succeeded) report('has results and no file');
    if (job.kind === 'get_pc_bulk') report('has no file');
    return;
  }
  const rows = rowsOf(job, contentOf(job.file));
  if (rows.join('\n') !== expected.join('\n'))
    report(`its file holds [${rows.join(', ')}], expected [${expected.join(', ')}]`);
  if (job.file.items !== rows.length)
    report(`its file says ${job.file.items} items of ${rows.length}`);
}

/**
 * Returns the contents of a batch's file: a file, or a part of the merged file with head and tail.
 */
function batchContent(
  files: SharedFiles['files'],
  job: Job,
  { file, segments: [segment] }: Batch,
): Buffer {
  const stored = files.get(segment?.path ?? '') ?? Buffer.alloc(0);
  if (segment?.path === file?.path) return stored;
  const { start, end } = segment!.body!;
  return Buffer.from(`${batchFile.head(job)}${stored.subarray(start, end)}${batchFile.tail(job)}`);
}

/** Returns the rows of a merged file, each as its item with its record or FAILED. */
function rowsOf({ kind }: Job, content: string): string[] {
  if (kind === 'variant_sold') {
    const rows = JSON.parse(content) as { itemId: string; error?: string }[];
    return rows.map((row) => `${row.itemId} ${'error' in row ? 'FAILED' : JSON.stringify(row)}`);
  }
  const lines = content.split('\n').filter((line) => line !== '');
  return lines.map((line) => {
    const { item_id: id, status, response } = JSON.parse(line);
    return `${id} ${status === 'SUCCESS' ? JSON.stringify(response) : status}`;
  });
}

/** Checks that the end of a job was notified at least once and always under the same id. */
function checkNotice(
  { accepted, ids }: SimulatedReceiver,
  { id, state }: Job,
  report: (problem: string) => void,
): void {
  const about = `${state === 'rejected' ? 'job.rejected' : 'job.ended'} ${id}`;
  const known = [...(ids.get(about) ?? [])];
  if (known.length === 0) report('no notification of its end');
  if (known.length > 1) report(`its end was notified under ${known.length} ids`);
  if (known.some((each) => (accepted.get(each) ?? 0) < 1))
    report('a notification was not accepted');
}

function checkSubmits({ intended, retries }: History, whole: readonly WholeJob[]): string[] {
  const problems: string[] = [];
  const first = (each: WholeJob) => each.batches[0]?.units[0]?.key;
  for (const intent of intended) {
    const isAnswered = ({ job }: WholeJob) =>
      intent.answered.has(job.id) || intent.answered.has(String(job.number));
    const jobs = whole.filter(
      (each) =>
        each.job.retryOf === null &&
        first(each) === intent.units[0] &&
        (isAnswered(each) || !isRolledBack(each)),
    );
    const report = (problem: string) =>
      problems.push(
        `submit ${intent.key ?? 'without a key'} of unit ${intent.units[0]}: ${problem}`,
      );
    const expected = intent.isQuoteOnly ? 0 : 1;
    if (jobs.length > expected) report(`created ${jobs.length} jobs`);
    checkCost(intent, jobs[0], report);
    if (intent.answered.size > 1) report(`was answered with ${[...intent.answered].join(' and ')}`);
    checkResponse(intent, jobs[0], report);
  }
  for (const [key, answered] of retries) {
    if (answered.size > 1) problems.push(`${key} was answered with ${[...answered].join(' and ')}`);
  }
  return problems;
}

/** Checks that the cost of a job equals its quote and does not exceed its maximum. */
function checkCost(
  { options: { maxCredits }, quotedCost, refusals }: IntendedJob,
  found: WholeJob | undefined,
  report: (problem: string) => void,
): void {
  if (refusals.some((text) => text.includes('already used for a different request')))
    report('its quote used its idempotency key');
  if (found === undefined) return;
  const { cost } = found.job;
  if (quotedCost !== null && cost !== quotedCost)
    report(`costs ${cost}, its quote said ${quotedCost}`);
  if (maxCredits !== undefined && cost > maxCredits)
    report(`costs ${cost}, more than its maximum ${maxCredits}`);
}

/**
 * Returns true for a job whose submission was refused because the queue was unavailable: it ended
 * without cost.
 */
function isRolledBack(each: WholeJob): boolean {
  const wasQueued = ({ outcome }: ReturnType<typeof outcomesOf>[number]) =>
    outcome?.status !== 'FAILED' || outcome.code !== 'not_queued';
  return (
    each.job.state === 'failed' && !outcomesOf(each).some(wasQueued) && sum(each.entries) === 0
  );
}

/** Checks that an acknowledged job exists and that a refused submit cost nothing. */
function checkResponse(
  intent: IntendedJob,
  found: WholeJob | undefined,
  report: (problem: string) => void,
): void {
  const id = [...intent.answered][0];
  if (id !== undefined && found?.job.id !== id && String(found?.job.number) !== id)
    report(`was answered with job ${id}, which does not exist`);
  if (id !== undefined || found === undefined || intent.ends.includes('lost')) return;
  const net = sum(found.entries);
  if (net !== 0) report(`was answered with an error, and job ${found.job.id} cost ${-net} credits`);
}

function checkGrants({ grants }: History, entries: readonly LedgerEntry[]): string[] {
  return grants.flatMap(({ userId, key, amount, answered }) => {
    const posted = entries.filter((entry) => entry.key === `grant:${userId}:${key}`);
    const isRight = posted.length === 1 && posted[0]!.amount === amount;
    return isRight || (!answered && posted.length === 0)
      ? []
      : [`${key} of ${amount} created ${posted.length} entries`];
  });
}
