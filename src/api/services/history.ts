import type { DescMethod, Message } from '@bufbuild/protobuf';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import {
  type CreateRuleRequest,
  type GetHistoryRequest,
  HistoryService,
  type ListChangesRequest,
  type ListTrackedItemsRequest,
  type StreamChangesRequest,
} from '../../../gen/gleaner/history/v1/history_pb.ts';
import type { TrackedField } from '../../base/tracked-values.ts';
import { Fault } from '../../contract/fault.ts';
import { warningHeader } from '../../contract/response-headers.ts';
import { noRegion, seriesOf } from '../../contract/track.ts';
import { type FormatName, formatInfo } from '../../formats/format.ts';
import { changeFile } from '../../history/change-file.ts';
import { cursorOf, readFeed } from '../../history/feed.ts';
import {
  addRule,
  changeRule,
  findRule,
  type RuleFields,
  removeRule,
} from '../../history/rule-book.ts';
import type { JobContext } from '../../jobs/context.ts';
import { requireCompared } from '../../jobs/queries/item-changes.ts';
import { noJob } from '../../jobs/queries/read.ts';
import { storeMarkets } from '../../markets/lookup.ts';
import type { Page } from '../../store/cursor.ts';
import type { Job } from '../../store/documents.ts';
import {
  findNextObservation,
  type ItemChangeType,
  type ItemKey,
  isChangeOf,
  listChanges,
  listObservations,
  listTrackedItems,
  type Observation,
  type Rule,
  type TrackedItem,
  type TrackedItemFilter,
  type TrackingRun,
} from '../../store/history.ts';
import { isAccepted } from '../../store/job-states.ts';
import type { Store } from '../../store/store.ts';
import { streamText } from './body-stream.ts';
import {
  type Call,
  defaultPageSize,
  type Handlers,
  handle,
  isEnabled,
  pageOf,
  type StreamHandler,
} from './handlers.ts';
import {
  toChangeMessage,
  toItemMessage,
  toObservationMessage,
  toRuleMessage,
} from './history-messages.ts';

/** Maximum stores that a message names. */
const maxStores = 5;
/** Maximum pages of observations that a call with `fields` reads. */
const maxPages = 20;

/**
 * Returns the handlers of gleaner.history.v1.HistoryService: the caller's items, the changes of
 * jobs, and rules.
 */
export function historyHandlers(context: JobContext): Handlers {
  const { store } = context;
  const { method } = HistoryService;
  const unary = new Map([
    handle(method.listTrackedItems, async (request, { principal }) => {
      const filter = placeFilter(request);
      if (request.search !== '') filter.search = request.search;
      const page = pageOf(request);
      const { items, next } = await listTrackedItems(
        store,
        principal.userId,
        request.series,
        filter,
        page,
      );
      return { items: items.map(toItemMessage), nextPageToken: next ?? '' };
    }),
    handle(method.getHistory, async (request, { principal }) => {
      const item = await findItem(context, principal.userId, request);
      const fields = withCurrency(request.fields as TrackedField[]);
      const { items, next } = await readObservations(context, item, request, fields);
      return {
        item: toItemMessage(item),
        observations: items.map((observation) => toObservationMessage(observation, fields)),
        nextPageToken: next ?? '',
      };
    }),
    handle(method.listChanges, async (request, call) => changesOf(context, request, call)),
    handle(method.readChangeFeed, async (request, { principal }) => {
      const { changes, nextCursor, hasMore } = await readFeed(context, principal.userId, {
        ...request,
        limit: request.limit || defaultPageSize,
        type: changeType(request.type),
      });
      return {
        changes: changes.map((change) => toChangeMessage(change, change.cursor)),
        nextCursor,
        hasMore,
      };
    }),
    ...ruleHandlers(context),
  ]);
  const stream = new Map<DescMethod, StreamHandler>([
    [
      method.streamChanges,
      async function* (message: Message, call: Call) {
        const request = message as StreamChangesRequest;
        const job = await findTracked(context, request.jobId, call);
        await requireCompared(context, job);
        const format = (request.format || 'jsonl') as FormatName;
        yield* streamText(formatInfo[format].contentType, changeFile(context, job.id, format));
      },
    ],
  ]);
  return { unary, stream };
}

/** Returns fields with the currency of a price: a price says nothing without it. */
function withCurrency(fields: readonly TrackedField[]): readonly TrackedField[] {
  if (fields.includes('price')) return [...fields, 'currency'];
  return fields;
}

function ruleHandlers(context: JobContext) {
  const { method } = HistoryService;
  return [
    handle(method.listRules, async (_request, { principal }) => ({
      rules: (await context.store.rules.find({ userId: principal.userId })).map(toRuleMessage),
    })),
    handle(method.getRule, async ({ ruleId }, { principal }) =>
      toRuleMessage(await findRule(context, principal.userId, ruleId)),
    ),
    handle(method.createRule, async (request, call) => {
      const rule = await addRule(context, call.principal.userId, ruleFields(request));
      await warnOfSilence(context, rule, call);
      return toRuleMessage(rule);
    }),
    handle(method.updateRule, async (request, call) => {
      const { userId } = call.principal;
      const rule = await changeRule(context, userId, request.ruleId, ruleFields(request));
      await warnOfSilence(context, rule, call);
      return toRuleMessage(rule);
    }),
    handle(method.deleteRule, async ({ ruleId }, { principal }) => {
      await removeRule(context, principal.userId, ruleId);
      return {};
    }),
  ];
}

/** Warns of what must change before a rule can send a message. */
async function warnOfSilence({ store }: JobContext, rule: Rule, call: Call): Promise<void> {
  if (!rule.enabled) return;
  const warnings: string[] = [];
  if (rule.channel === 'webhook' && !(await store.webhooks.get(rule.userId))?.enabled)
    warnings.push('The rule sends no messages yet: the account has no enabled webhook.');
  if (rule.key !== '' && !(await isTracked(store, rule)))
    warnings.push('No tracked item has this ID yet. The history shows the IDs of items.');
  if (warnings.length > 0) call.responseHeaders[warningHeader] = warnings.join(' ');
}

/** Returns true if an item that a rule names has been read in a tracked job. */
async function isTracked({ trackedItems }: Store, { userId, key, market }: Rule): Promise<boolean> {
  const filter = { userId, series: '', key, market: market || undefined };
  return (await trackedItems.find(filter, { order: [], limit: 1 })).length > 0;
}

function ruleFields(request: Omit<CreateRuleRequest, '$typeName' | '$unknown'>): RuleFields {
  const { name, condition, threshold, field, market, region, key, series, channel } = request;
  return {
    name,
    market,
    region,
    key,
    series,
    condition: condition as RuleFields['condition'],
    field: field as RuleFields['field'],
    threshold: threshold ?? null,
    channel: channel === 'email' ? 'email' : 'webhook',
    enabled: isEnabled(request),
  };
}

/**
 * Reads a page of observations, the first of which may have been made before the period. With
 * `fields`, continues until the page has observations in which one of them changed, each of which
 * ends with the next.
 */
async function readObservations(
  { store, clock }: JobContext,
  item: ItemKey,
  request: GetHistoryRequest,
  fields: readonly TrackedField[],
): Promise<Page<Observation>> {
  const to = request.to ? timestampMs(request.to) : clock.now() + 1;
  const from = request.from ? await startOf(store, item, timestampMs(request.from), fields) : 0;
  const page = pageOf(request);
  const items: Observation[] = [];
  let next: string | null = null;
  for (let read = 0; read <= maxPages; read++) {
    const limit = page.limit - items.length;
    const found = await listObservations(store, item, from, to, { ...page, limit });
    items.push(...found.items.filter((observation) => isChangeOf(observation, fields)));
    next = found.next;
    if (next === null || items.length >= page.limit) break;
    page.after = next;
  }
  return { items: fields.length === 0 ? items : await withEnds(store, item, items, fields), next };
}

/**
 * Returns the time of the latest observation at or before a time, or the time itself if there is
 * none.
 */
async function startOf(
  store: Store,
  item: ItemKey,
  at: number,
  fields: readonly TrackedField[],
): Promise<number> {
  const [first] = (await listObservations(store, item, at, at + 1, { limit: 1 })).items;
  if (first !== undefined && first.at === at && isChangeOf(first, fields)) return at;
  return (await findNextObservation(store, item, { before: at }, fields))?.at ?? at;
}

/** Ends observations, newest first, with the next ones in which the fields changed. */
async function withEnds(
  store: Store,
  item: ItemKey,
  items: readonly Observation[],
  fields: readonly TrackedField[],
): Promise<Observation[]> {
  const [newest] = items;
  if (newest === undefined) return [];
  const following = await findNextObservation(store, item, { after: newest.at }, fields);
  let endedAt = following?.at ?? null;
  return items.map((observation) => {
    const ended = { ...observation, endedAt };
    endedAt = observation.at;
    return ended;
  });
}

/** Returns the conditions of a list for a marketplace and a region. */
function placeFilter({
  market,
  region,
}: Pick<ListTrackedItemsRequest, 'market' | 'region'>): TrackedItemFilter {
  if (region !== noRegion) {
    const filter: TrackedItemFilter = {};
    if (market !== '') filter.market = market;
    if (region !== '') filter.region = region;
    return filter;
  }
  // Items of stores have no region that a caller can name.
  const named = market === '' ? storeMarkets : storeMarkets.filter((name) => name === market);
  return { market: { in: named } };
}

/**
 * Returns a tracked item of a user. Throws `not_found`, and `invalid` if several stores have the
 * item and the request names none.
 */
async function findItem(
  { store: { trackedItems } }: JobContext,
  userId: string,
  { market, region, key, store }: Pick<GetHistoryRequest, 'market' | 'region' | 'key' | 'store'>,
): Promise<TrackedItem> {
  const isOfStore = region === noRegion && storeMarkets.includes(market);
  const regionFilter = isOfStore ? { region: store === '' ? undefined : store } : { region };
  const found = await trackedItems.find(
    { userId, series: '', market, key, ...regionFilter },
    { order: [], limit: maxStores },
  );
  const [item] = found;
  if (item === undefined)
    throw new Fault('not_found', `There is no history of ${market}/${region}/${key}.`);
  if (found.length === 1) return item;
  const stores = found
    .map((each) => each.region)
    .sort()
    .join(', ');
  throw Fault.invalid(
    ['query', 'store'],
    `Several stores have an item ${key} (${stores}): name one of them`,
    'value_error',
  );
}

/** Returns one of the caller's tracked jobs. Throws `not_found`. */
async function findTracked(
  { store }: JobContext,
  jobId: string,
  { principal }: Call,
): Promise<Job> {
  const job = await store.jobs.get(jobId.toLowerCase());
  if (job === null || job.userId !== principal.userId || !isAccepted(job)) throw noJob(jobId);
  if (seriesOf(job.options.track) === null)
    throw new Fault(
      'not_found',
      `Job '${jobId}' is not tracked. Submit it with track=true to compare it.`,
    );
  return job;
}

/** Returns how far the comparison of a job is. */
function statusOf({ hold }: Job, run: TrackingRun | null): string {
  if (run?.isSkipped) return 'skipped';
  if (run !== null) return run.stage === 'done' ? 'done' : 'processing';
  return hold === null || hold.state === 'released' ? 'pending' : hold.state;
}

/** Returns the type of changes that a request names. Null for all. */
const changeType = (name: string) => (name === '' ? null : (name as ItemChangeType));

async function changesOf(context: JobContext, request: ListChangesRequest, call: Call) {
  const { store } = context;
  const job = await findTracked(context, request.jobId, call);
  const run = await store.trackingRuns.get(job.id);
  const type = changeType(request.type);
  const { items, next } = await listChanges(store, job.id, type, pageOf(request));
  return {
    jobId: job.id,
    series: seriesOf(job.options.track) ?? '',
    status: statusOf(job, run),
    counts: run?.counts ?? {},
    messages: run?.messages ?? 0,
    changes: items.map((change) => toChangeMessage(change, run ? cursorOf(run, change) : '')),
    nextPageToken: next ?? '',
  };
}
