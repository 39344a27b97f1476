import type { Filter } from 'mongodb';
import { newId } from '../../base/id.ts';
import type { Job, JobState } from '../documents.ts';
import { dueAfterClaim, dueOnEntry, maxDueMs, openStates } from '../job-states.ts';
import { hiddenStates, type JobDocument, type MongoCollections } from './schema.ts';
import { readJob } from './shapes.ts';

/** Claims due jobs (JobStore.claimDueJobs). */
export async function claimDueJobs(
  jobs: MongoCollections['jobs'],
  now: number,
  limit: number,
  except: readonly JobState[],
): Promise<Job[]> {
  if (limit <= 0) return [];
  // $gt: 0 is required for the partial index.
  const isDue: Filter<JobDocument> = {
    dueAt: { $gt: 0, $lte: now },
    state: { $nin: [...hiddenStates, ...except] },
  };
  const due = await jobs
    .find(isDue, { projection: { state: 1, decideBy: 1 } })
    .sort({ dueAt: 1, _id: 1 })
    .limit(limit)
    .toArray();
  if (due.length === 0) return [];
  const taker = newId();
  const groups = Map.groupBy(due, ({ state, decideBy }) =>
    dueAfterClaim({ state: state as JobState, decideBy }, now),
  );
  for (const [dueAt, found] of groups) {
    const ids = found.map(({ _id }) => _id);
    const states = [...new Set(found.map(({ state }) => state))];
    const which = { ...isDue, _id: { $in: ids }, state: { $in: states } };
    await jobs.updateMany(which, { $set: { dueAt, taker } });
  }
  const ids = due.map(({ _id }) => _id);
  const claimed = await jobs.find({ _id: { $in: ids }, taker, state: { $nin: [...hiddenStates] } }).toArray();
  const places = new Map(ids.map((id, index) => [id, index]));
  return claimed.sort((a, b) => places.get(a._id)! - places.get(b._id)!).map(readJob);
}

/** Makes jobs due that are not due in time (JobStore.repairDueTimes). */
export async function repairDueTimes(jobs: MongoCollections['jobs'], now: number): Promise<number> {
  const isLost: Filter<JobDocument> = {
    state: { $in: [...openStates] },
    $or: [
      { dueAt: null, $or: [{ decideBy: { $ne: null } }, { state: { $ne: 'awaiting_approval' } }] },
      { dueAt: { $gt: now + maxDueMs }, state: { $ne: 'awaiting_approval' } },
    ],
  };
  const fields = { state: 1, decideBy: 1, stateSince: 1 } as const;
  const lost = await jobs.find(isLost, { projection: fields }).toArray();
  let repaired = 0;
  for (const { _id, state, decideBy, stateSince } of lost) {
    const dueAt = dueOnEntry({ state: state as JobState, decideBy }, stateSince);
    repaired += (await jobs.updateOne({ ...isLost, _id, state }, { $set: { dueAt } })).modifiedCount;
  }
  return repaired;
}
