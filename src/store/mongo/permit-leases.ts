import { createBoundedMap } from '../../base/bounded-map.ts';
import {
  noPause,
  type OriginStore,
  type PermitLease,
  type PermitRequest,
} from '../origin-state.ts';
import { grant, type Holding } from '../permits.ts';
import { unlessDuplicate } from './duplicates.ts';
import type { MongoEngine } from './engine.ts';
import type { MongoCollections, OriginDocument } from './schema.ts';

type Origins = MongoCollections['origins'];

/**
 * Time after a lease within which no origin is deleted and created again, in milliseconds: they are
 * kept for a day.
 */
const recentMs = 3_600_000;

/** Maximum leases that are written together. */
const maxGroup = 500;

/** A request for permits that waits until those of the same moment are written. */
interface Waiting {
  origin: string;
  request: PermitRequest;
  resolve(lease: PermitLease | Promise<PermitLease>): void;
  reject(error: unknown): void;
}

/** A request, the state of its origin that it was computed from, and the new state. */
interface Change {
  waiting: Waiting;
  before: OriginDocument;
  holdings: Holding[];
  granted: Omit<PermitLease, 'pause'>;
}

/**
 * Creates the `lease` of OriginStore. A process renews its leases of all origins at the same
 * moments, so that two commands serve all of them (`npm run bench -- origins` counts the commands).
 */
export function createPermitLeases(engine: MongoEngine): OriginStore['lease'] {
  /** Origins after the last lease here. Mostly no other process has written one since. */
  const latest = createBoundedMap<{ origin: OriginDocument; at: number }>({
    maxBytes: 8 * 1024 ** 2,
    sizeOf: ({ origin: { holdings } }) => 512 + 256 * holdings.length,
  });
  let group: Waiting[] = [];

  const recent = (origin: string, now: number): OriginDocument | undefined => {
    const found = latest.get(origin);
    if (found !== undefined && now - found.at < recentMs) return found.origin;
    return undefined;
  };

  /** Writes one lease, again until no other one was written meanwhile. */
  const write = async (
    origins: Origins,
    origin: string,
    request: PermitRequest,
  ): Promise<PermitLease> => {
    let before = recent(origin, request.now) ?? (await readOrigin(origins, origin));
    for (;;) {
      const { holdings, ...granted } = grant(before.holdings, request);
      const { filter, update } = changeOf(before, holdings, request.until);
      const after = await origins.findOneAndUpdate(filter, update, { returnDocument: 'after' });
      if (after !== null) {
        latest.set(origin, { origin: after, at: request.now });
        return { ...granted, pause: after.pause };
      }
      before = await readOrigin(origins, origin);
    }
  };

  /**
   * Writes the leases of several origins together. Returns the origins after it, or null if another
   * process has written one of them.
   */
  const writeAll = async (
    origins: Origins,
    changes: readonly Change[],
  ): Promise<Map<string, OriginDocument> | null> => {
    const updates = changes.map(({ waiting: { request }, before, holdings }) => ({
      updateOne: changeOf(before, holdings, request.until),
    }));
    const { matchedCount } = await origins.bulkWrite(updates, { ordered: false });
    const ids = changes.map(({ before }) => before._id);
    const documents = await origins.find({ _id: { $in: ids } }).toArray();
    const after = new Map(documents.map((document) => [document._id, document]));
    for (const { origin, request } of changes.map(({ waiting }) => waiting)) {
      const document = after.get(origin);
      if (document !== undefined) latest.set(origin, { origin: document, at: request.now });
    }
    return matchedCount === changes.length ? after : null;
  };

  const writeAlone = ({ origin, request, resolve }: Waiting) =>
    resolve(engine.run(({ origins }) => write(origins, origin, request)));

  const writeGroup = async (waiting: readonly Waiting[]): Promise<void> => {
    const changes: Change[] = [];
    for (const one of waiting) {
      const before = recent(one.origin, one.request.now);
      if (before === undefined) {
        writeAlone(one);
        continue;
      }
      const { holdings, ...granted } = grant(before.holdings, one.request);
      changes.push({
        waiting: one,
        before,
        holdings,
        granted,
      });
    }
    const after =
      changes.length > 1 ? await engine.run(({ origins }) => writeAll(origins, changes)) : null;
    for (const { waiting: one, granted } of changes) {
      const document = after?.get(one.origin);
      // A lease that is requested again replaces itself.
      if (document === undefined) writeAlone(one);
      else one.resolve({ ...granted, pause: document.pause });
    }
  };

  const writeWaiting = () => {
    const all = group;
    group = [];
    for (let from = 0; from < all.length; from += maxGroup) {
      const part = all.slice(from, from + maxGroup);
      writeGroup(part).catch((error: unknown) => {
        for (const { reject } of part) reject(error);
      });
    }
  };

  return (origin, request) =>
    new Promise((resolve, reject) => {
      if (group.length === 0) setImmediate(writeWaiting);
      group.push({
        origin,
        request,
        resolve,
        reject,
      });
    });
}

/** Returns the update of an origin's holdings, which fails if they have changed. */
function changeOf({ _id, holdingsRevision }: OriginDocument, holdings: Holding[], until: number) {
  return {
    filter: { _id, holdingsRevision },
    update: {
      $set: { holdings, holdingsRevision: holdingsRevision + 1 },
      $max: { heldUntil: until },
    },
  };
}

/** Returns an origin; creates it if there is none. */
export async function readOrigin(origins: Origins, origin: string): Promise<OriginDocument> {
  for (;;) {
    const found = await origins.findOne({ _id: origin });
    if (found) return found;
    await ensureOrigin(origins, origin);
  }
}

export async function ensureOrigin(origins: Origins, origin: string): Promise<void> {
  const start = {
    nextFree: 0,
    pause: noPause,
    holdings: [],
    holdingsRevision: 0,
    heldUntil: 0,
  };
  // Of two concurrent upserts one may fail as a duplicate; the document then exists.
  await unlessDuplicate(() =>
    origins.updateOne({ _id: origin }, { $setOnInsert: start }, { upsert: true }),
  );
}
