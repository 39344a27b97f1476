import type { ItemKey, Observation } from '../history.ts';

/*
 * Ids of observations: the item, then the time and the job. The ids of an item are adjacent and ordered by time, so
 * that the index of the ids is the only one that reading a history needs.
 */

/** Digits of a time in an id: milliseconds and fractions of them. */
const timeLength = 20;
const timeText = (at: number): string => at.toFixed(4).padStart(timeLength, '0');

function prefixOf({ userId, market, region, key }: ItemKey): string {
  return `${[userId, market, region, key].map(encodeURIComponent).join('/')}/`;
}

/** Returns the id of an observation. */
export function observationId({ at, jobId, ...item }: ItemKey & Pick<Observation, 'at' | 'jobId'>): string {
  return `${prefixOf(item)}${timeText(at)}/${jobId}`;
}

/** Returns a filter for the observations of an item from `from` to before `to`. */
export function observationsBetween(item: ItemKey, from: number, to: number) {
  const prefix = prefixOf(item);
  return { _id: { $gte: `${prefix}${timeText(Math.max(0, from))}`, $lt: `${prefix}${timeText(to)}` } };
}

/** Returns a filter for all observations of a user. */
export function observationsOfUser(userId: string) {
  const prefix = encodeURIComponent(userId);
  return { _id: { $gt: `${prefix}/`, $lt: `${prefix}0` } };
}

/** Returns a filter for the changes of a job, whose ids begin with that of the job. */
export function changesOf(jobId: string) {
  return { _id: { $gt: `${jobId}/`, $lt: `${jobId}0` } };
}
