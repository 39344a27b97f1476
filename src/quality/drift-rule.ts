import type { JsonObject } from '../base/json.ts';

/** A unit, as an example of a page: the reader's input and the region. */
export interface Example {
  region: string;
  input: JsonObject;
}

/**
 * Number of pages checked, number of them that lacked a field, and number of them whose values of
 * it contradicted each other, which older histories do not have.
 */
export type PageCounts = readonly [pages: number, absent: number, contradicted?: number];

/** History of one field of a market's page. */
export interface FieldHistory {
  /** Newest pages in groups of ten, oldest first. */
  recent: readonly PageCounts[];
  /** Pages before the newest: the baseline. */
  earlier: PageCounts;
  /** Last unit whose page lacked the field. */
  example: Example | null;
  /**
   * Alarm, or null if there is none: its start in milliseconds since the epoch, and the share of
   * the baseline when it began. Stored histories have these names.
   */
  alarm: { since: number; usual: number } | null;
}

/** Values that decide whether an alarm begins or ends. */
export interface Shares {
  /** Newest pages checked. */
  pages: number;
  /** Share of the newest pages that lack the field, from 0 to 1. */
  absent: number;
  /** Share of the newest pages whose values of the field contradict each other, from 0 to 1. */
  contradicted: number;
  /**
   * Share of the baseline's pages that lacked the field. Null until the baseline has enough pages.
   * It is frozen during an alarm.
   */
  baseline: number | null;
}

/** Number of newest pages that are compared with the baseline. */
const windowPages = 200;
/** Pages per group, and the minimum for any conclusion. */
const minPages = 50;
/** Maximum weight of the baseline in pages, so that it follows slow changes. */
const maxBaselinePages = 2_000;
/**
 * Share of missing fields at which an alarm begins, rise above the baseline that it needs, and rise
 * at which it ends.
 */
const alarmShare = 0.4;
const alarmRise = 0.3;
const endRise = 0.1;

/** History of a field without any pages. */
export const noHistory: FieldHistory = {
  recent: [],
  earlier: [0, 0],
  example: null,
  alarm: null,
};

const plus = (one: PageCounts, other: PageCounts): PageCounts => [
  one[0] + other[0],
  one[1] + other[1],
  (one[2] ?? 0) + (other[2] ?? 0),
];
const sum = (groups: readonly PageCounts[]): PageCounts => groups.reduce(plus, [0, 0]);
const shareOf = ([pages, absent]: PageCounts): number => absent / pages;

/** Returns the values that decide whether an alarm begins or ends. */
export function computeShares({ recent, earlier, alarm }: FieldHistory): Shares {
  const newest = sum(recent);
  const [pages, , contradicted = 0] = newest;
  const earlierShare = earlier[0] >= minPages ? shareOf(earlier) : null;
  return {
    pages,
    absent: pages === 0 ? 0 : shareOf(newest),
    contradicted: pages === 0 ? 0 : contradicted / pages,
    baseline: alarm?.usual ?? earlierShare,
  };
}

function addToBaseline(earlier: PageCounts, leaving: PageCounts): PageCounts {
  const [pages, absent] = plus(earlier, leaving);
  return pages > maxBaselinePages ? [pages / 2, absent / 2] : [pages, absent];
}

/**
 * Adds pages to a history. The first pages, and later the pages older than the newest 200, form the
 * baseline, except during an alarm. An alarm begins when at least 50 newest pages are known, 40 %
 * or more of them lack the field, and that is at least 30 percentage points above the baseline. It
 * ends when the share is within 10 points of the baseline.
 */
export function learn(
  history: FieldHistory,
  seen: PageCounts,
  example: Example | null,
  now: number,
): FieldHistory {
  const recent = addRecent(history.recent, seen);
  const aged = {
    ...history,
    ...moveToBaseline(recent, history),
    example: example ?? history.example,
  };
  return { ...aged, alarm: nextAlarm(aged, now) };
}

/** Adds pages to the newest ones: to the last counts until these have enough pages. */
function addRecent(recent: FieldHistory['recent'], seen: PageCounts): PageCounts[] {
  const last = recent.at(-1);
  if (last === undefined || last[0] >= minPages) return [...recent, seen];
  return [...recent.slice(0, -1), plus(last, seen)];
}

/**
 * Moves the first pages, and those older than the newest 200, to the baseline, except during an
 * alarm.
 */
function moveToBaseline(
  recent: readonly PageCounts[],
  { earlier, alarm }: FieldHistory,
): Pick<FieldHistory, 'recent' | 'earlier'> {
  let baseline = earlier;
  let pages = sum(recent)[0];
  let movedCount = 0;
  for (const first of recent) {
    const isBeginning = baseline[0] < minPages;
    const isWindow = !isBeginning && pages - first[0] < windowPages;
    if (first[0] < minPages || isWindow) break;
    if (alarm === null) baseline = addToBaseline(baseline, first);
    pages -= first[0];
    movedCount += 1;
  }
  return { recent: recent.slice(movedCount), earlier: baseline };
}

/** Returns the alarm after new pages: a new one, the current one, or null once it has ended. */
function nextAlarm(history: FieldHistory, now: number): FieldHistory['alarm'] {
  const { alarm } = history;
  const { pages, absent, baseline } = computeShares(history);
  if (baseline === null || pages < minPages) return alarm;
  if (alarm !== null) return absent <= baseline + endRise ? null : alarm;
  const isBeginning = absent >= alarmShare && absent >= baseline + alarmRise;
  return isBeginning ? { since: now, usual: baseline } : null;
}

/**
 * Makes the newest pages the baseline, after an operator accepted a change of the site. Without an
 * alarm, or with too few pages, the history is returned unchanged.
 */
export function accepted(history: FieldHistory): FieldHistory {
  const newest = sum(history.recent);
  if (history.alarm === null || newest[0] < minPages) return history;
  return {
    ...history,
    recent: [],
    earlier: newest,
    alarm: null,
  };
}
