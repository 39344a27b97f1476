import type { Message } from '@bufbuild/protobuf';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import {
  type CreateRuleRequest,
  type GetHistoryRequest,
  HistoryService,
  type ListChangesRequest,
  type StreamChangesRequest,
} from '../../../gen/gleaner/history/v1/history_pb.ts';
import type { TrackedField } from '../../base/tracked-values.ts';
import { Fault } from '../../contract/fault.ts';
import { noRegion, seriesOf } from '../../contract/track.ts';
import { type FormatName, formatInfo } from '../../formats/format.ts';
import { changeFile } from '../../history/change-file.ts';
import { addRule, changeRule, findRule, type RuleFields, removeRule } from '../../history/rule-book.ts';
import type { JobContext } from '../../jobs/context.ts';
import { fullName } from '../../jobs/job-types.ts';
import { requireCompared } from '../../jobs/queries/changed.ts';
import { noJob } from '../../jobs/queries/read.ts';
import { isAccepted } from '../../kinds/states.ts';
import type { Page } from '../../store/cursor.ts';
import type { Job } from '../../store/documents.ts';
import {
  type ItemChangeType,
  type ItemKey,
  listChanges,
  listObservations,
  listTrackedItems,
  type Observation,
  type TrackingRun,
} from '../../store/history.ts';
import { trackedItemId } from '../../store/history-ids.ts';
import { type Call, type Handlers, handle, pageOf, type StreamHandler } from './handlers.ts';
import { toChangeMessage, toItemMessage, toObservationMessage, toRuleMessage } from './history-messages.ts';
import { streamText } from './job-stream.ts';

/** Maximum pages of observations that a call with `fields` reads. */
const maxPages = 20;

const regionOf = (segment: string): string => (segment === noRegion ? '' : segment);

/**
 * Returns the handlers of gleaner.history.v1.HistoryService: the caller's items, the changes of jobs, and
 * rules.
 */
export function historyHandlers(context: JobContext): Handlers {
  const { store } = context;
  const { method } = HistoryService;
  const unary = new Map([
    handle(method.listTrackedItems, async (request, { principal }) => {
      const { market, region, search } = request;
      const filter = {
        ...(market === '' ? {} : { market }),
        ...(region === '' ? {} : { region: regionOf(region) }),
        ...(search === '' ? {} : { search }),
      };
      const page = pageOf(request);
      const { items, next } = await listTrackedItems(store, principal.userId, request.series, filter, page);
      return { items: items.map(toItemMessage), nextPageToken: next ?? '' };
    }),
    handle(method.getHistory, async (request, { principal }) => {
      const { market, region, key } = request;
      const item = { userId: principal.userId, market, region: regionOf(region), key };
      const [known] = await store.trackedItems.find({ id: { in: [trackedItemId(item, '')] } }, { order: [] });
      if (!known) throw new Fault('not_found', `There is no history of ${market}/${region}/${key}.`);
      const fields = request.fields as TrackedField[];
      const { items, next } = await readObservations(context, item, request, fields);
      return {
        item: toItemMessage(known),
        observations: items.map((observation) => toObservationMessage(observation, fields)),
        nextPageToken: next ?? '',
      };
    }),
    handle(method.listChanges, async (request, call) => changesOf(context, request, call)),
    ...ruleHandlers(context),
  ]);
  const stream = new Map<string, StreamHandler>([
    [
      fullName(method.streamChanges),
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

function ruleHandlers(context: JobContext) {
  const { method } = HistoryService;
  return [
    handle(method.listRules, async (_request, { principal }) => ({
      rules: (await context.store.rules.find({ userId: principal.userId })).map(toRuleMessage),
    })),
    handle(method.getRule, async ({ ruleId }, { principal }) =>
      toRuleMessage(await findRule(context, principal.userId, ruleId)),
    ),
    handle(method.createRule, async (request, { principal }) =>
      toRuleMessage(await addRule(context, principal.userId, ruleFields(request))),
    ),
    handle(method.updateRule, async (request, { principal }) =>
      toRuleMessage(await changeRule(context, principal.userId, request.ruleId, ruleFields(request))),
    ),
    handle(method.deleteRule, async ({ ruleId }, { principal }) => {
      await removeRule(context, principal.userId, ruleId);
      return {};
    }),
  ];
}

function ruleFields(request: Omit<CreateRuleRequest, '$typeName' | '$unknown'>): RuleFields {
  const { name, condition, threshold, field, market, region, key, series, channel, disabled } = request;
  return {
    ...{ name, market, region, key, series },
    condition: condition as RuleFields['condition'],
    field: field as RuleFields['field'],
    threshold: threshold ?? null,
    channel: channel === 'email' ? 'email' : 'webhook',
    enabled: !disabled,
  };
}

/**
 * Reads a page of observations. With `fields`, continues until the page has observations in which one of them
 * changed.
 */
async function readObservations(
  { store, clock }: JobContext,
  item: ItemKey,
  request: GetHistoryRequest,
  fields: readonly TrackedField[],
): Promise<Page<Observation>> {
  const from = request.from ? timestampMs(request.from) : 0;
  const to = request.to ? timestampMs(request.to) : clock.now() + 1;
  const page = pageOf(request);
  const items: Observation[] = [];
  for (let read = 0; ; read++) {
    const limit = page.limit - items.length;
    const found = await listObservations(store, item, from, to, { ...page, limit });
    const isWanted = ({ changed }: Observation) =>
      fields.length === 0 || changed.some((field) => fields.includes(field));
    items.push(...found.items.filter(isWanted));
    if (found.next === null || items.length >= page.limit || read >= maxPages)
      return { items, next: found.next };
    page.after = found.next;
  }
}

/** Returns one of the caller's tracked jobs. Throws `not_found`. */
async function findTracked({ store }: JobContext, jobId: string, { principal }: Call): Promise<Job> {
  const job = await store.jobs.get(jobId.toLowerCase());
  if (job === null || job.userId !== principal.userId || !isAccepted(job)) throw noJob(jobId);
  if (seriesOf(job.options.track) === null)
    throw new Fault('not_found', `Job '${jobId}' is not tracked. Submit it with track=true to compare it.`);
  return job;
}

/** Returns how far the comparison of a job is. */
function statusOf({ hold }: Job, run: TrackingRun | null): string {
  if (run !== null) return run.stage === 'done' ? 'done' : 'processing';
  return hold === null || hold.state === 'released' ? 'pending' : hold.state;
}

async function changesOf(context: JobContext, request: ListChangesRequest, call: Call) {
  const { store } = context;
  const job = await findTracked(context, request.jobId, call);
  const run = await store.trackingRuns.get(job.id);
  const type = request.type === '' ? null : (request.type as ItemChangeType);
  const { items, next } = await listChanges(store, job.id, type, pageOf(request));
  return {
    jobId: job.id,
    series: seriesOf(job.options.track) ?? '',
    status: statusOf(job, run),
    counts: run?.counts ?? {},
    messages: run?.messages ?? 0,
    changes: items.map(toChangeMessage),
    nextPageToken: next ?? '',
  };
}
