import { setTimeout as wait } from 'node:timers/promises';
import type { GleanerClient } from '../../clients/typescript/index.ts';
import { AccountService } from '../../gen/gleaner/account/v1/account_pb.ts';
import { HistoryService } from '../../gen/gleaner/history/v1/history_pb.ts';
import { MktaService } from '../../gen/gleaner/mkta/v1/mkta_pb.ts';
import { plainIds } from '../../sandbox/mkta/ids.ts';
import type { RunningOrigins } from '../../sandbox/server.ts';
import type { ChaosSubmit, ChaosUser, KnownJob } from './account.ts';
import { type ClientContext, retryCall, runCustomer } from './customer.ts';
import { type ChaosWork, variantWork } from './works.ts';

const name = 'daily';
const region = 'id';
/** Items of a run: two batches. */
export const seriesItems: readonly string[] = plainIds(60, 38_000_000_000).map(String);
/** Minimum fall of a price in percent for a message. */
const threshold = 5;
const pollMs = 400;
const plan = { repeats: false, resubmits: true, cancelsAt: null, retries: false };

/** Factors of the items' prices in each run, by their position. Null: the item is missing. */
const runs: readonly ((position: number) => number | null)[] = [
  () => 1,
  (position) => {
    if (position % 3 === 0) return 0.9;
    return position % 10 === 1 ? null : 1;
  },
  (position) => (position % 3 === 0 ? 0.97 : 1),
];

/** Requests that the runs need without faults. */
export const seriesRequests = runs.length * seriesItems.length;

/** A run of the series whose job was compared. */
export interface SeriesRun {
  known: KnownJob;
  /** Price factors of the items, by position. Null: the item is missing. */
  factors: readonly (number | null)[];
}

/** A series of tracked jobs of one user. */
export interface TrackedSeries {
  user: ChaosUser;
  name: string;
  market: string;
  region: string;
  /** Minimum fall of a price in percent for a message. */
  threshold: number;
  runs: SeriesRun[];
}

const trackedWork: ChaosWork = {
  ...variantWork,
  name: 'variant_sold, tracked',
  subjects: () => [...seriesItems],
  submit: (client, subjects, idempotencyKey) =>
    client.submit(
      MktaService.method.submitVariantSold,
      { country: region, items: subjects.map((itemId) => ({ itemId, shopId: '77' })) },
      { idempotencyKey, track: name },
    ),
};

/**
 * Sends messages about items whose price falls to a webhook of the user. Called before the faults.
 */
export async function createSeries(
  user: ChaosUser,
  client: GleanerClient,
  url: string,
): Promise<TrackedSeries> {
  await client.call(AccountService.method.setWebhook, { url });
  const rule = { name: 'Cheaper', condition: 'price_falls_by', threshold };
  await client.call(HistoryService.method.createRule, rule);
  return { user, name, market: 'mkta', region, threshold, runs: [] };
}

/**
 * Runs the jobs of the series one after the other on changed items, each once the job before was
 * compared.
 */
export async function runSeries(
  context: ClientContext,
  origins: RunningOrigins,
  series: TrackedSeries,
): Promise<void> {
  for (const factorOf of runs) {
    const factors = seriesItems.map((_, position) => factorOf(position));
    for (const [position, id] of seriesItems.entries()) {
      const priceFactor = factors[position]!;
      const change = priceFactor === null ? { isRemoved: true } : { priceFactor };
      origins.changeItem(series.market, region, id, change);
    }
    const submission: ChaosSubmit = {
      work: trackedWork,
      user: series.user,
      subjects: seriesItems,
      isKeyed: true,
      outcomes: [],
    };
    const known = await runCustomer(context, submission, plan);
    if (known === null || !(await isCompared(context, series.user, known.jobId))) return;
    series.runs.push({ known, factors });
  }
}

/** Waits until a job was compared. Returns false after the timeout. */
async function isCompared(
  context: ClientContext,
  { client }: ChaosUser,
  jobId: string,
): Promise<boolean> {
  const call = () => client.call(HistoryService.method.listChanges, { jobId, pageSize: 1 });
  while (!context.isOver()) {
    const changes = await retryCall(context, `changes of ${jobId}`, call);
    if (changes?.status === 'done') return true;
    await wait(pollMs);
  }
  context.problems.add('lost', `job ${jobId} was not compared`);
  return false;
}
