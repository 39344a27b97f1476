import type { JsonObject } from '../base/json.ts';

/** A unit that is an example: what a reader was asked for, and where. */
export interface Example {
  region: string;
  input: JsonObject;
}

/** Pages looked at, and those of them that lacked a field. */
export type Tally = readonly [pages: number, absent: number];

/** What is known of one field on one sort of a market's pages. */
export interface FieldHistory {
  /** The newest pages, counted in groups, oldest first. */
  recent: readonly Tally[];
  /** Pages before them: what is usual. */
  earlier: Tally;
  /** The last unit whose page lacked the field. */
  example: Example | null;
  /** Since when it is missing more often than was usual, in milliseconds since the epoch. */
  alarm: { since: number; usual: number } | null;
}

/** What an alarm is about: the newest pages, and how often the field is missing from them. */
export interface Shares {
  /** Newest pages looked at. */
  pages: number;
  /** Share of them that lack the field, from 0 to 1. */
  absent: number;
  /** Share of earlier pages that lacked it, the alarm's own while there is one; null: not learned yet. */
  usual: number | null;
}

/** How many of the newest pages are compared with those before. */
export const windowPages = 200;
/** Pages counted as one group; the fewest that anything is concluded from. */
export const fewestPages = 50;
/** Of earlier pages no more than so many count, so that what is usual may slowly change. */
const mostEarlier = 2_000;
/** An alarm begins at this share, if it is so much above the usual one, and ends near that again. */
const alarmShare = 0.4;
const alarmRise = 0.3;
const endRise = 0.1;

/** A field that was not looked at yet. */
export const noHistory: FieldHistory = { recent: [], earlier: [0, 0], example: null, alarm: null };

const plus = ([pages, absent]: Tally, [more, missing]: Tally): Tally => [pages + more, absent + missing];
const sum = (tallies: readonly Tally[]): Tally => tallies.reduce(plus, [0, 0]);
const shareOf = ([pages, absent]: Tally): number => absent / pages;

/** The shares that an alarm is decided by. */
export function sharesOf({ recent, earlier, alarm }: FieldHistory): Shares {
  const newest = sum(recent);
  const learned = earlier[0] >= fewestPages ? shareOf(earlier) : null;
  return { pages: newest[0], absent: newest[0] === 0 ? 0 : shareOf(newest), usual: alarm?.usual ?? learned };
}

function learned(earlier: Tally, leaving: Tally): Tally {
  const [pages, absent] = plus(earlier, leaving);
  return pages > mostEarlier ? [pages / 2, absent / 2] : [pages, absent];
}

/**
 * The history after more pages. The first pages ever, then those that are no longer among the newest 200,
 * teach what is usual, except while there is an alarm. An alarm begins when at least 50 of the newest pages
 * are known, 40 % or more of them lack the field, and that is 30 points or more above the usual share; it
 * ends once the share is within 10 points of what was usual before it began.
 */
export function learn(
  history: FieldHistory,
  seen: Tally,
  example: Example | null,
  now: number,
): FieldHistory {
  const recent = [...history.recent];
  const last = recent.at(-1);
  if (last !== undefined && last[0] < fewestPages) recent[recent.length - 1] = plus(last, seen);
  else recent.push(seen);
  let { earlier, alarm } = history;
  let pages = sum(recent)[0];
  for (let first = recent[0]; first !== undefined && first[0] >= fewestPages; first = recent[0]) {
    const isBeginning = earlier[0] < fewestPages;
    if (!isBeginning && pages - first[0] < windowPages) break;
    if (alarm === null) earlier = learned(earlier, first);
    pages -= first[0];
    recent.shift();
  }
  const grown = { recent, earlier, alarm, example: example ?? history.example };
  const { absent, usual } = sharesOf(grown);
  if (usual === null || pages < fewestPages) return grown;
  if (alarm === null && absent >= alarmShare && absent >= usual + alarmRise) alarm = { since: now, usual };
  else if (alarm !== null && absent <= usual + endRise) alarm = null;
  return { ...grown, alarm };
}

/** The history with what the newest pages are like as what is usual: an operator has seen that the site is
 *  like that now. Without an alarm, or before enough pages are known, it stays as it is. */
export function accepted(history: FieldHistory): FieldHistory {
  const newest = sum(history.recent);
  if (history.alarm === null || newest[0] < fewestPages) return history;
  return { ...history, recent: [], earlier: newest, alarm: null };
}
