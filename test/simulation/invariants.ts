import { sha256 } from '../../src/base/id.ts';
import { audit } from '../../src/jobs/audit.ts';
import { readRecords } from '../../src/jobs/records.ts';
import { unitStatus } from '../../src/kinds/states.ts';
import type { Batch, Job, LedgerEntry, Outcome, StoredFile, Unit } from '../../src/store/documents.ts';
import type { Store } from '../../src/store/store.ts';
import type { History, Wish } from './clients.ts';
import { exists, type Receiver, type SharedFiles } from './outside.ts';

/** A job with everything the store has of it. */
interface WholeJob {
  job: Job;
  batches: Batch[];
  entries: LedgerEntry[];
}

/** What the invariants look at. */
export interface Evidence {
  store: Store;
  files: SharedFiles;
  receiver: Receiver;
  history: History;
  /** Owners of jobs. */
  userIds: readonly string[];
}

const page = { limit: 10_000 };

/** Holds the end of a run to what the service promises; gives one sentence per broken promise. */
export async function brokenPromises(evidence: Evidence): Promise<string[]> {
  const { store, files, receiver, history, userIds } = evidence;
  const { problems } = await audit(store);
  const { items: entries } = await store.listLedgerEntries(null, page);
  const { items: jobs } = await store.listJobs({}, page);
  const whole: WholeJob[] = [];
  for (const job of jobs) {
    const batches = await Array.fromAsync(store.readBatches(job.id));
    whole.push({ job, batches, entries: entries.filter(({ jobId }) => jobId === job.id) });
  }
  for (const userId of userIds) {
    const own = entries.filter((entry) => entry.userId === userId);
    const balance = (await store.getUser(userId))!.balance;
    if (balance !== sum(own)) problems.push(`user ${userId}: balance ${balance}, ledger ${sum(own)}`);
  }
  for (const each of whole) {
    const say = (problem: string) => problems.push(`job ${each.job.id} (${each.job.kind}): ${problem}`);
    if (each.job.finishedAt === null) {
      say(`still ${each.job.state}`);
      continue;
    }
    checkCredits(each, say);
    checkUnits(each, say);
    await checkFiles(store, files, each, say);
    checkNotice(receiver, each.job, say);
  }
  problems.push(...checkWishes(history, whole), ...checkGrants(history, entries));
  return problems;
}

const sum = (entries: readonly LedgerEntry[]) => entries.reduce((total, { amount }) => total + amount, 0);

const outcomesOf = ({
  batches,
}: WholeJob): { unit: Unit; outcome: Outcome | undefined; batch: Batch; index: number }[] =>
  batches.flatMap((batch) =>
    batch.units.map((unit, index) => ({ unit, outcome: batch.outcomes[index], batch, index })),
  );

function checkCredits(each: WholeJob, say: (problem: string) => void): void {
  const { job, entries } = each;
  const done = outcomesOf(each).filter(({ outcome }) => outcome?.status === 'SUCCESS').length;
  const charged = -sum(entries.filter(({ type }) => type === 'charge'));
  const refunded = sum(entries.filter(({ type }) => type === 'refund'));
  const earned = done * job.unitPrice;
  if (charged !== earned + refunded) say(`charged ${charged}, earned ${earned}, refunded ${refunded}`);
  if (charged !== job.cost && job.state !== 'rejected') say(`costs ${job.cost}, charged ${charged}`);
  if (job.refunded !== refunded) say(`says ${job.refunded} refunded, the ledger ${refunded}`);
}

/** The marketplace decides what succeeds, unless someone stopped the job or the queue did not take it. */
function checkUnits(each: WholeJob, say: (problem: string) => void): void {
  const units = outcomesOf(each);
  const unqueued = units.filter(
    ({ outcome }) => outcome?.status === 'FAILED' && outcome.code === 'not_queued',
  );
  // What cannot be queued now waits; only a queue that takes nothing at all ends a submit.
  if (unqueued.length > 0 && unqueued.length < units.length)
    say(`${unqueued.length} of ${units.length} units failed because they were not queued`);
  if (units.length !== each.job.totalUnits) say(`has ${units.length} of ${each.job.totalUnits} units`);
  for (const { unit, outcome } of units) {
    if (outcome === undefined) say(`unit ${unit.key} has no outcome`);
    const known = exists(String(unit.input.item_id ?? unit.input.shop_id));
    if (outcome?.status === 'SUCCESS' && !known) say(`unit ${unit.key} succeeded, and does not exist`);
    if (outcome?.status === 'FAILED' && outcome.code === 'page_not_found' && known)
      say(`unit ${unit.key} was not found, and exists`);
    if (outcome?.status === 'FAILED' && (outcome.code === 'internal' || outcome.code === 'unavailable'))
      say(`unit ${unit.key} failed as ${outcome.code}: ${outcome.message}`);
  }
}

async function checkFiles(
  store: Store,
  { files, blobs }: SharedFiles,
  each: WholeJob,
  say: (problem: string) => void,
): Promise<void> {
  const { job, batches } = each;
  const contentOf = (file: StoredFile): string => {
    const content = files.get(file.path);
    if (content === undefined) say(`file ${file.path} is missing`);
    else if (sha256(content) !== file.sha256 || content.length !== file.bytes)
      say(`file ${file.path} has other bytes than the store says`);
    return content?.toString() ?? '';
  };
  const payloads = new Map<string, string>();
  for (const batch of batches) {
    if (batch.file) contentOf(batch.file);
    const records = await readRecords({ store, blobs }, batch).catch((error) => {
      say((error as Error).message);
      return new Map<number, Uint8Array>();
    });
    for (const [index, body] of records) payloads.set(`${batch.id} ${index}`, Buffer.from(body).toString());
  }
  for (const { outcome, unit, batch, index } of outcomesOf(each)) {
    if (outcome?.status !== 'SUCCESS') continue;
    const inFile = outcome.file ? contentOf(outcome.file) : payloads.get(`${batch.id} ${index}`);
    const id = String(unit.input.item_id ?? unit.input.shop_id);
    if (!inFile?.includes(`"itemId":"${id}"`)) say(`unit ${unit.key} succeeded and has no result`);
  }
  const expected = outcomesOf(each).map(({ unit, outcome, batch, index }) => {
    const status = unitStatus(outcome, job);
    return `${unit.input.item_id} ${status === 'SUCCESS' ? payloads.get(`${batch.id} ${index}`) : status}`;
  });
  const succeeded = outcomesOf(each).some(({ outcome }) => outcome?.status === 'SUCCESS');
  if (job.file === null) {
    if (job.kind === 'variant_sold' && succeeded) say('has results and no file');
    if (job.kind === 'get_pc_bulk') say('has no file');
    return;
  }
  const rows = rowsOf(job, contentOf(job.file));
  if (rows.join('\n') !== expected.join('\n'))
    say(`its file holds [${rows.join(', ')}], expected [${expected.join(', ')}]`);
  if (job.file.items !== rows.length) say(`its file says ${job.file.items} items of ${rows.length}`);
}

/** The rows of a merged file, each as its item with its record, or with FAILED. */
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

/** A terminal job was told of: at least once, and under one id however often. */
function checkNotice({ accepted, ids }: Receiver, { id, state }: Job, say: (problem: string) => void): void {
  const about = `${state === 'rejected' ? 'job.rejected' : 'job.ended'} ${id}`;
  const known = [...(ids.get(about) ?? [])];
  if (known.length === 0) say('nobody was notified of its end');
  if (known.length > 1) say(`its end was notified under ${known.length} ids`);
  if (known.some((each) => (accepted.get(each) ?? 0) < 1)) say('a notification was not accepted');
}

function checkWishes({ wishes, retries }: History, whole: readonly WholeJob[]): string[] {
  const problems: string[] = [];
  const first = (each: WholeJob) => each.batches[0]?.units[0]?.key;
  for (const wish of wishes) {
    const isAnswered = ({ job }: WholeJob) =>
      wish.answered.has(job.id) || wish.answered.has(String(job.number));
    const jobs = whole.filter(
      (each) =>
        each.job.retryOf === null &&
        first(each) === wish.units[0] &&
        (isAnswered(each) || !isTakenBack(each)),
    );
    const say = (problem: string) =>
      problems.push(`submit ${wish.key ?? 'without a key'} of unit ${wish.units[0]}: ${problem}`);
    if (jobs.length > 1) say(`made ${jobs.length} jobs`);
    if (wish.answered.size > 1) say(`was answered with ${[...wish.answered].join(' and ')}`);
    checkAnswer(wish, jobs[0], say);
  }
  for (const [key, answered] of retries) {
    if (answered.size > 1) problems.push(`${key} was answered with ${[...answered].join(' and ')}`);
  }
  return problems;
}

/** Whether a submit was refused because the queue did not take the work: its job ended without cost. */
function isTakenBack(each: WholeJob): boolean {
  const wasQueued = ({ outcome }: ReturnType<typeof outcomesOf>[number]) =>
    outcome?.status !== 'FAILED' || outcome.code !== 'not_queued';
  return each.job.state === 'failed' && !outcomesOf(each).some(wasQueued) && sum(each.entries) === 0;
}

/** What was answered is there; what was refused costs nothing. */
function checkAnswer(wish: Wish, found: WholeJob | undefined, say: (problem: string) => void): void {
  const id = [...wish.answered][0];
  if (id !== undefined && found?.job.id !== id && String(found?.job.number) !== id)
    say(`was answered with job ${id}, which does not exist`);
  if (id !== undefined || found === undefined || wish.ends.includes('lost')) return;
  const net = sum(found.entries);
  if (net !== 0) say(`was answered with an error, and job ${found.job.id} cost ${-net} credits`);
}

function checkGrants({ grants }: History, entries: readonly LedgerEntry[]): string[] {
  return grants.flatMap(({ userId, key, amount, answered }) => {
    const made = entries.filter((entry) => entry.key === `grant:${userId}:${key}`);
    const isRight = made.length === 1 && made[0]!.amount === amount;
    return isRight || (!answered && made.length === 0)
      ? []
      : [`${key} of ${amount} made ${made.length} entries`];
  });
}
