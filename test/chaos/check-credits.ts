import type { GleanerClient } from '../../clients/typescript/index.ts';
import { AccountService, type LedgerEntry } from '../../gen/gleaner/account/v1/account_pb.ts';
import type { Books, CallOutcome, ChaosSubmit, ChaosUser, KnownJob, Problems } from './account.ts';

/** Net charge of each job, by the ledger. */
type Charged = ReadonlyMap<string, number>;

/**
 * Compares a user's balance and ledger with the jobs that the clients know. Each job must be
 * charged once for its units, and refunded once for the failed ones. A call that returned an error
 * must not be charged.
 */
export async function checkCredits(
  books: Books,
  user: ChaosUser,
  client: GleanerClient,
  problems: Problems,
): Promise<void> {
  const { account } = await client.call(AccountService.method.getAccount, {});
  const entries: LedgerEntry[] = [];
  for await (const page of client.pages(AccountService.method.listLedgerEntries, {
    pageSize: 1_000,
  }))
    entries.push(...page.entries);
  const balance = Number(account!.balance);
  const sum = total(entries);
  if (balance !== sum)
    problems.add('mischarged', `user ${user.id}: balance ${balance}, sum of the ledger ${sum}`);
  const keys = new Set(entries.map(({ key }) => key));
  if (keys.size !== entries.length)
    problems.add('duplicated', `user ${user.id}: ${entries.length - keys.size} duplicate entries`);

  const jobs = [...books.jobs.values()].filter(({ submission }) => submission.user === user);
  const spent = jobs.reduce((all, { job }) => all + costOf(job), 0);
  if (balance !== user.granted - spent)
    problems.add(
      'mischarged',
      `user ${user.id}: balance ${balance}, granted ${user.granted}, spent ${spent} on its jobs`,
    );
  const charged = new Map(
    [...Map.groupBy(entries, ({ jobId }) => jobId)].map(([jobId, own]) => [jobId, -total(own)]),
  );
  for (const known of jobs) checkJob(known, entries, problems);
  const submissions = books.submissions.filter((submission) => submission.user === user);
  for (const submission of submissions) checkUnanswered(submission, jobs, charged, problems);
  for (const known of jobs) checkRetries(known, jobs, charged, problems);
}

const total = (entries: readonly LedgerEntry[]) =>
  entries.reduce((sum, { amount }) => sum + Number(amount), 0);

/** Returns the net cost of a job: 0 for one that was rejected. */
const costOf = (job: KnownJob['job']) =>
  job === null || job.status === 'rejected' ? 0 : job.cost - job.refunded;

function checkJob(known: KnownJob, entries: readonly LedgerEntry[], problems: Problems): void {
  const { jobId, job, submission } = known;
  if (job === null) return;
  const { unitPrice } = submission.work;
  if (job.cost !== job.total * unitPrice)
    problems.add(
      'mischarged',
      `job ${jobId} costs ${job.cost} for ${job.total} units at ${unitPrice}`,
    );
  if (!job.ended) return;
  const own = entries.filter((entry) => entry.jobId === jobId);
  const charges = own.filter(({ type }) => type === 'charge');
  if (charges.length > 1)
    problems.add('duplicated', `job ${jobId} was charged ${charges.length} times`);
  const paid = -total(own);
  const earned = job.success * unitPrice;
  if (paid !== earned)
    problems.add(
      'mischarged',
      `job ${jobId}: ${paid} paid for ${job.success} units at ${unitPrice}`,
    );
}

/** Checks that at most one unacknowledged job is charged for each call without a reply. */
function checkUnanswered(
  submission: ChaosSubmit,
  jobs: readonly KnownJob[],
  charged: Charged,
  problems: Problems,
): void {
  const own = jobs.filter((known) => known.submission === submission && known.retryOf === null);
  // All calls with the same key create one job.
  const calls: readonly CallOutcome[] = submission.isKeyed ? ['unanswered'] : submission.outcomes;
  const named = own.filter(({ isAcknowledged }) => isAcknowledged).length;
  // A refused submission whose work could not be queued leaves a failed job without a charge, and
  // releases its key.
  const lasting = own.filter(({ job }) => job?.status !== 'failed' || job.refunded < job.cost);
  if (submission.isKeyed && lasting.length > 1)
    problems.add(
      'duplicated',
      `one key created the jobs ${lasting.map(({ jobId }) => jobId).join(' and ')}`,
    );
  compareCalls(submission.isKeyed && named > 0 ? [] : calls, own, charged, problems);
}

function checkRetries(
  known: KnownJob,
  jobs: readonly KnownJob[],
  charged: Charged,
  problems: Problems,
): void {
  compareCalls(
    known.retries,
    jobs.filter(({ retryOf }) => retryOf === known),
    charged,
    problems,
  );
}

function compareCalls(
  calls: readonly CallOutcome[],
  jobs: readonly KnownJob[],
  charged: Charged,
  problems: Problems,
): void {
  const unnamed = jobs.filter((each) => !each.isAcknowledged && (charged.get(each.jobId) ?? 0) > 0);
  const unanswered = calls.filter((outcome) => outcome === 'unanswered').length;
  if (unnamed.length > unanswered)
    problems.add(
      'mischarged',
      `charged after ${calls.join(', ') || 'another reply'}: job ${unnamed.map(({ jobId }) => jobId).join(', ')}`,
    );
}
