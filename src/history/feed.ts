import { Fault, type Problem } from '../contract/fault.ts';
import type { JobContext } from '../jobs/context.ts';
import { type Cursor, cursorText, parseCursor } from '../store/cursor.ts';
import {
  findChanges,
  type ItemChange,
  type ItemChangeType,
  idsOfJob,
  type TrackingRun,
} from '../store/history.ts';
import { type DoneRun, findDoneRuns } from '../store/tracking-run.ts';

/** Runs per query, and most runs that one call reads. */
const pageSize = 100;
const maxRuns = 1_000;

/** Position before the first change of a user. */
const start: Cursor = { at: 0, id: '/' };

/** Selects changes of a user. */
export interface FeedSelection {
  /** A cursor: only changes that follow. Empty for all that are kept. */
  after: string;
  limit: number;
  /** Only changes of this type. Null for all. */
  type: ItemChangeType | null;
  /** Only changes of jobs of this marketplace. Empty for all. */
  market: string;
  /** Only changes of jobs of this series. Empty for all tracked jobs. */
  series: string;
}

/** A part of the feed of a user's changes. */
export interface FeedPage {
  changes: (ItemChange & { cursor: string })[];
  /** `after` of the next call. */
  nextCursor: string;
  /** True if more changes may follow now. */
  hasMore: boolean;
}

/**
 * Reads changes of all tracked jobs of a user, in the order in which the comparisons ended. They
 * end one at a time, each later than the one before (tracker.ts), so that no change appears before
 * a cursor that was returned. Throws `invalid` for text that is not a cursor, and `results_deleted`
 * for a cursor from before the retention.
 */
export async function readFeed(
  context: JobContext,
  userId: string,
  selection: FeedSelection,
): Promise<FeedPage> {
  const { after, limit, type } = selection;
  const { store } = context;
  const changes: FeedPage['changes'] = [];
  let position = after === '' ? start : readAfter(context, after);
  const endWith = (hasMore: boolean): FeedPage => ({
    changes,
    nextCursor: cursorText(position),
    hasMore,
  });
  let runs = 0;
  for await (const run of runsFrom(context, userId, position, selection)) {
    const left = limit - changes.length;
    if (left === 0 || runs === maxRuns) return endWith(true);
    runs += 1;
    const ids = { after: run.doneAt === position.at ? position.id : '', limit: left + 1 };
    const found = await findChanges(store, run.jobId, { type, ...ids });
    const taken = found.slice(0, left);
    changes.push(...taken.map((change) => ({ ...change, cursor: cursorOf(run, change) })));
    const isWhole = taken.length === found.length;
    position = { at: run.doneAt, id: isWhole ? endOf(run) : taken.at(-1)!.id };
    if (!isWhole) return endWith(true);
  }
  return endWith(false);
}

/** Returns the cursor of a change of a run. Empty until the run has ended. */
export function cursorOf({ doneAt }: Pick<TrackingRun, 'doneAt'>, { id }: ItemChange): string {
  if (doneAt === null) return '';
  return cursorText({ at: doneAt, id });
}

/** Returns the position after all changes of a run. */
const endOf = ({ jobId }: DoneRun) => idsOfJob(jobId).id.below;

const loc: Problem['loc'] = ['body', 'after'];

/** Parses a cursor of the feed. */
function readAfter({ clock, settings }: JobContext, after: string): Cursor {
  const cursor = parseCursor(after);
  if (cursor === null)
    throw Fault.invalid(loc, 'Value is not a cursor of the change feed', 'value_error');
  const { historyMs } = settings.retention;
  const isTooOld =
    cursor.at > start.at && historyMs !== null && cursor.at < clock.now() - historyMs;
  if (isTooOld)
    throw new Fault(
      'results_deleted',
      `The cursor ${after} is older than the retention of changes: ` +
        `changes after it may have been deleted. Read the feed without 'after'.`,
    );
  return cursor;
}

/** Yields the runs of a user that a position is in, or that follow it. */
async function* runsFrom(
  { store }: JobContext,
  userId: string,
  { at, id }: Cursor,
  { market, series }: FeedSelection,
): AsyncGenerator<DoneRun> {
  let after: DoneRun | null = null;
  for (;;) {
    const found = await findDoneRuns(store, { userId, market, series }, { at, after }, pageSize);
    for (const run of found) if (run.doneAt > at || endOf(run) > id) yield run;
    if (found.length < pageSize) return;
    after = found.at(-1)!;
  }
}
