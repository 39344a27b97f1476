import { countsOf } from '../../store/batch-store.ts';
import { allOf } from '../../store/cursor.ts';
import type { Counts, DeletedJob, Job, LedgerEntry } from '../../store/documents.ts';
import { openStates } from '../../store/job-states.ts';
import { discountOf } from '../../store/jobs.ts';
import type { Store } from '../../store/store.ts';
import { entryKeys } from '../credits.ts';
import { countReused } from '../reuse.ts';

/** Result of an audit: the number of documents checked, and the inconsistencies. */
export interface Audit {
  accounts: number;
  entries: number;
  jobs: number;
  /** Deleted jobs. A summary of each is kept. */
  deletedJobs: number;
  /** One sentence per inconsistency. Empty when the books balance. */
  problems: string[];
}

const pageSize = 500;

/**
 * Checks that balances, ledger entries and jobs are consistent: each balance is the sum of its
 * ledger, each entry of a job refers to an existing or deleted job, and for each terminal or
 * deleted job success + failed = total and charged = earned + refunded. Only reads the store, one
 * page at a time. The store may be in use: an account with problems is checked again, and only
 * problems that remain are reported.
 */
export async function audit(store: Store): Promise<Audit> {
  const result: Audit = {
    accounts: 0,
    entries: 0,
    jobs: 0,
    deletedJobs: 0,
    problems: [],
  };
  for await (const { userId, balance, sum, entries } of store.ledger.audit()) {
    result.accounts++;
    result.entries += entries;
    for (const problem of auditAccount(balance, sum))
      result.problems.push(`account ${userId}: ${problem}`);
    const first = await auditJobs(store, userId);
    result.jobs += first.jobs;
    result.deletedJobs += first.deletedJobs;
    if (first.problems.length === 0) continue;
    // A job that ended between two queries has entries that the first of them did not see.
    const { problems } = await auditJobs(store, userId);
    result.problems.push(...first.problems.filter((problem) => problems.includes(problem)));
  }
  return result;
}

/** Checks a balance against the sum of its ledger, which is null if the account kept changing. */
function auditAccount(balance: number, sum: number | null): string[] {
  const problems: string[] = [];
  if (sum === null) problems.push('not audited, because it changed all the time');
  else if (balance !== sum) problems.push(`balance ${balance}, sum of the ledger ${sum}`);
  if (balance < 0) problems.push(`balance ${balance} is below 0`);
  return problems;
}

type JobsAudit = Pick<Audit, 'jobs' | 'deletedJobs' | 'problems'>;

/** Checks the jobs of an account, and the entries of jobs. */
async function auditJobs(store: Store, userId: string): Promise<JobsAudit> {
  const result: JobsAudit = { jobs: 0, deletedJobs: 0, problems: [] };
  const ledger = await jobEntries(store, userId);
  for (const [jobId, entries] of ledger) {
    const sum = entries.reduce((total, { amount }) => total + amount, 0);
    // The charge of a discarded submission was refunded in full.
    if (sum === 0 || (await hasExisted(store, jobId))) continue;
    result.problems.push(`account ${userId}: entries of job ${jobId}, which does not exist`);
  }
  for await (const job of jobsOf(store, userId)) {
    result.jobs++;
    for (const problem of await auditJob(store, job, ledger.get(job.id) ?? []))
      result.problems.push(`job ${job.id}: ${problem}`);
  }
  for await (const job of deletedJobsOf(store, userId)) {
    result.deletedJobs++;
    const entries = ledger.get(job.id) ?? [];
    const units = { ...job, total: job.totalUnits };
    const problems = auditEntries(job.id, entries);
    problems.push(...auditBalance(job, units, entries));
    for (const problem of problems) result.problems.push(`deleted job ${job.id}: ${problem}`);
  }
  return result;
}

/**
 * Returns true if a job exists or was deleted. A job is hidden after its summary is written, so it
 * is read first.
 */
async function hasExisted(store: Store, jobId: string): Promise<boolean> {
  if ((await store.jobs.get(jobId)) !== null) return true;
  return (await store.deletedJobs.get(jobId)) !== null;
}

async function auditJob(
  store: Store,
  job: Job,
  entries: readonly LedgerEntry[],
): Promise<string[]> {
  const problems = auditEntries(job.id, entries);
  if (openStates.includes(job.state)) return problems;

  const { units, batches } = await countsOf(store, job.id);
  const isComplete = units.total === job.totalUnits;
  // Deleted since the list was read.
  if (!isComplete && (await store.jobs.get(job.id)) === null) return problems;
  const storedUnits = job.counts?.units;
  if (storedUnits !== undefined) problems.push(...auditCounts(storedUnits, units));
  if (!isComplete) problems.push(`${units.total} units, submitted ${job.totalUnits}`);
  if (batches.success + batches.failed !== batches.total)
    problems.push('terminal with outstanding batches');
  const { reused } = await countReused(store, job);
  if (storedUnits !== undefined && storedUnits.reused !== reused)
    problems.push(`stored as ${storedUnits.reused} reused, the batches say ${reused}`);
  const discount = discountOf(job, reused ?? 0);
  problems.push(...auditBalance({ ...job, discount }, units, entries));
  return problems;
}

/** Compares the unit counts stored with a job with those of its batches. */
function auditCounts(stored: Counts['units'], counted: Counts['units']): string[] {
  if (stored.success === counted.success && stored.failed === counted.failed) return [];
  const storedText = `${stored.success} done + ${stored.failed} failed`;
  const countedText = `${counted.success} + ${counted.failed}`;
  return [`stored as ${storedText}, the batches say ${countedText}`];
}

/** Sums up the charges and the refunds of a job. */
function sumEntries(entries: readonly LedgerEntry[]): { charged: number; refunded: number } {
  let charged = 0;
  let refunded = 0;
  for (const { type, amount } of entries) {
    if (type === 'charge') charged -= amount;
    if (type === 'refund') refunded += amount;
  }
  return { charged, refunded };
}

/** Checks the entries of a job in any state. */
function auditEntries(jobId: string, entries: readonly LedgerEntry[]): string[] {
  const problems: string[] = [];
  const { charged, refunded } = sumEntries(entries);
  const charges = entries.filter((entry) => entry.type === 'charge');
  if (charges.some((entry) => entry.key !== entryKeys.charge(jobId)))
    problems.push('a charge under an unknown key');
  if (charges.length > 1) problems.push(`charged ${charges.length} times`);
  if (refunded > charged) problems.push(`refunded ${refunded} of ${charged} charged`);
  return problems;
}

/** Checks the counts of an ended job against its entries. */
function auditBalance(
  job: Pick<DeletedJob, 'state' | 'cost' | 'refunded' | 'unitPrice' | 'discount'>,
  units: Counts['units'],
  entries: readonly LedgerEntry[],
): string[] {
  const problems: string[] = [];
  const { charged, refunded } = sumEntries(entries);
  if (units.success + units.failed !== units.total)
    problems.push(`${units.success} done + ${units.failed} failed of ${units.total}`);
  if (job.refunded !== refunded)
    problems.push(`says ${job.refunded} refunded, the ledger ${refunded}`);
  const earned = units.success * job.unitPrice - job.discount;
  if (job.state === 'rejected') {
    if (charged !== refunded) problems.push(`rejected, charged ${charged}, refunded ${refunded}`);
  } else if (charged !== job.cost) {
    problems.push(`costs ${job.cost}, charged ${charged}`);
  } else if (charged !== earned + refunded) {
    problems.push(`charged ${charged}, earned ${earned}, refunded ${refunded}`);
  }
  return problems;
}

async function jobEntries(store: Store, userId: string): Promise<Map<string, LedgerEntry[]>> {
  const entries = new Map<string, LedgerEntry[]>();
  for await (const entry of allOf((page) => store.ledger.list({ userId }, page), pageSize)) {
    if (entry.jobId === null) continue;
    const jobEntries = entries.get(entry.jobId);
    if (jobEntries) jobEntries.push(entry);
    else entries.set(entry.jobId, [entry]);
  }
  return entries;
}

const jobsOf = (store: Store, userId: string) =>
  allOf((page) => store.jobs.list({ userId }, page), pageSize);

const deletedJobsOf = (store: Store, userId: string) =>
  allOf((page) => store.deletedJobs.list({ userId }, page), pageSize);
