import type { GleanerClient } from '../../clients/typescript/index.ts';
import { AccountService } from '../../gen/gleaner/account/v1/account_pb.ts';
import { HistoryService, type Observation } from '../../gen/gleaner/history/v1/history_pb.ts';
import type { Unit } from '../../gen/gleaner/job/v1/job_pb.ts';
import type { Problems } from './account.ts';
import { listUnits } from './check-results.ts';
import { seriesItems, type TrackedSeries } from './series.ts';

/** Expected history of one item after the runs of a series. */
export interface ExpectedHistory {
  /** Type of the change in each run. Null if there is none. */
  changes: (string | null)[];
  /** Runs with an observation, and the factor of the price in each. */
  observations: { run: number; factor: number }[];
  /** Runs with a message. */
  messages: number[];
}

/**
 * Computes the history of an item from the outcome of its unit and its price factor in each run. An
 * item without a price does not change.
 */
export function expectHistory(
  outcomes: readonly Pick<Unit, 'status' | 'code'>[],
  factors: readonly (number | null)[],
  hasPrice: boolean,
  threshold: number,
): ExpectedHistory {
  const history: ExpectedHistory = { changes: [], observations: [], messages: [] };
  let last: number | null = null;
  let isPresent = false;
  for (const [run, { status, code }] of outcomes.entries()) {
    const isGone = status === 'FAILED' && code === 'page_not_found';
    if (status !== 'SUCCESS') {
      history.changes.push(isGone && isPresent ? 'missing' : null);
      // After any other failure, nothing is known about the item.
      if (isGone) isPresent = false;
      continue;
    }
    const factor = factors[run]!;
    const isChanged = last === null || (hasPrice && factor !== last);
    if (isChanged) history.observations.push({ run, factor });
    if (last === null) history.changes.push('new');
    else if (!isPresent) history.changes.push('back');
    else history.changes.push(isChanged ? 'changed' : null);
    if (last !== null && isChanged && factor <= last * (1 - threshold / 100))
      history.messages.push(run);
    last = factor;
    isPresent = true;
  }
  return history;
}

/**
 * Checks the changes, observations, and messages of a series: each exactly once, no matter which
 * processes were killed.
 */
export async function checkHistory(
  client: GleanerClient,
  series: TrackedSeries,
  problems: Problems,
): Promise<void> {
  const jobIds = series.runs.map(({ known }) => known.jobId);
  const units: Unit[][] = [];
  const changes: Map<string, string>[] = [];
  for (const jobId of jobIds) {
    units.push(await listUnits(client, jobId));
    changes.push(await readChanges(client, jobId, problems));
  }
  const messages: string[] = [];
  for (const [position, key] of seriesItems.entries()) {
    const { market, region } = series;
    const { observations } = await client.call(HistoryService.method.getHistory, {
      market,
      region,
      key,
    });
    observations.reverse();
    const price = observations[0]?.values?.price;
    const outcomes = units.map((each) => each[position]!);
    const factors = series.runs.map((run) => run.factors[position]!);
    const expected = expectHistory(outcomes, factors, price !== undefined, series.threshold);
    const found = changes.map((types) => types.get(key) ?? null);
    if (found.join() !== expected.changes.join())
      problems.add(
        'other',
        `item ${key} was [${found}] in its runs, expected [${expected.changes}]`,
      );
    checkObservations(key, observations, jobIds, expected, problems);
    messages.push(...expected.messages.map((run) => `${jobIds[run]} ${key}`));
  }
  await checkMessages(client, messages, problems);
}

/** Returns the types of a job's changes by item. */
async function readChanges(
  client: GleanerClient,
  jobId: string,
  problems: Problems,
): Promise<Map<string, string>> {
  const types = new Map<string, string>();
  for await (const { changes, counts } of client.pages(HistoryService.method.listChanges, {
    jobId,
    pageSize: 1_000,
  })) {
    for (const { key, type } of changes) {
      if (types.has(key)) problems.add('duplicated', `job ${jobId}: two changes of item ${key}`);
      types.set(key, type);
    }
    const { new: added = 0, changed = 0, missing = 0, back = 0 } = counts ?? {};
    const counted = added + changed + missing + back;
    if (counted !== types.size)
      problems.add('other', `job ${jobId}: ${types.size} changes, ${counted} counted`);
  }
  return types;
}

/** Checks that the observations are as expected, and that each ends when the next one begins. */
function checkObservations(
  key: string,
  observations: readonly Observation[],
  jobIds: readonly string[],
  expected: ExpectedHistory,
  problems: Problems,
): void {
  const found = observations.map(({ jobId }) => jobIds.indexOf(jobId));
  const runs = expected.observations.map(({ run }) => run);
  if (found.join() !== runs.join())
    problems.add('other', `item ${key} was observed in the runs [${found}], expected [${runs}]`);
  const first = observations[0]?.values?.price;
  for (const [at, { endedAt, values }] of observations.entries()) {
    const next = observations[at + 1]?.observedAt;
    if (timeOf(endedAt) !== timeOf(next))
      problems.add(
        'other',
        `item ${key}: observation ${at} ends at ${timeOf(endedAt)}, not ${timeOf(next)}`,
      );
    const factor = expected.observations[at]?.factor;
    if (first === undefined || factor === undefined) continue;
    if (Math.abs((values?.price ?? 0) / first - factor) > 0.001)
      problems.add(
        'other',
        `item ${key} costs ${values?.price} after ${first}, expected ${factor} of it`,
      );
  }
}

const timeOf = (at: Observation['observedAt']) => (at ? `${at.seconds}.${at.nanos}` : 'never');

/** Checks that one message was created for each expected job and item. */
async function checkMessages(
  client: GleanerClient,
  expected: readonly string[],
  problems: Problems,
): Promise<void> {
  const found: string[] = [];
  for await (const { deliveries } of client.pages(AccountService.method.listDeliveries, {
    pageSize: 1_000,
  })) {
    for (const { type, body } of deliveries) {
      if (type !== 'item.changed') continue;
      const { data } = JSON.parse(body) as { data: { job_id: string; key: string } };
      found.push(`${data.job_id} ${data.key}`);
    }
  }
  const repeated = found.length - new Set(found).size;
  if (repeated > 0)
    problems.add('duplicated', `${repeated} messages about an item were created twice`);
  const lost = expected.filter((each) => !found.includes(each));
  if (lost.length > 0)
    problems.add('lost', `no message about ${lost.length} items, such as ${lost[0]}`);
  const others = found.filter((each) => !expected.includes(each));
  if (others.length > 0) problems.add('other', `unexpected message about ${others[0]}`);
}
