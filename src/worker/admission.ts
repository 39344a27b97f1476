import type { Clock } from '../base/clock.ts';
import { createFairQueue, type FairQueue, type Owner } from '../base/fair-queue.ts';

/** Numbers of the batches of each user, or of each job, that a worker has and has not completed. */
export interface Backlogs {
  /** Adds a batch of a user or a job. Returns the function that removes it. */
  add(id: string): () => void;
  /** Returns the number of batches of a user or a job. */
  of(id: string): number;
}

/** Creates empty backlogs. */
export function createBacklogs(): Backlogs {
  const counts = new Map<string, number>();
  const of: Backlogs['of'] = (id) => counts.get(id) ?? 0;
  return {
    of,
    add: (id) => {
      counts.set(id, of(id) + 1);
      return () => {
        const left = of(id) - 1;
        if (left > 0) counts.set(id, left);
        else counts.delete(id);
      };
    },
  };
}

/** A batch that waits for admission. */
export interface Applicant extends Owner {
  market: string;
  region: string;
  /** Maximum concurrent requests to the region's origin. */
  concurrency: number;
  /** Maximum concurrent requests of the batch. */
  requests: number;
}

/** Decides which batches of a lane this process works on. */
export interface Admission {
  /**
   * Admits a batch if there is room and no other batch of its user waits. Returns a function that
   * releases the room, or null.
   */
  tryAcquire(applicant: Applicant): (() => void) | null;
  /**
   * Resolves with that function once the batch is admitted, or immediately with null if too many
   * batches of its user wait. Rejects with the signal's reason if the signal aborts first.
   */
  wait(applicant: Applicant, signal: AbortSignal): Promise<(() => void) | null>;
  /** Admits waiting batches after `allows` has become true. */
  resume(): void;
  /** Number of waiting batches. */
  readonly waiting: number;
}

/** Options for createAdmission(). */
export interface AdmissionOptions {
  /** Maximum waiting batches of one user in a region. */
  maxWaitingPerUser: number;
  /**
   * Returns true if a batch may be admitted for a user who has `own` of the `total` admitted ones.
   */
  allows(own: number, total: number): boolean;
}

/** A number of batches and their requests. */
interface Load {
  batches: number;
  requests: number;
}

/** Admitted load by user, and waiting batches, of a region. */
interface Region {
  concurrency: number;
  total: Load;
  users: Map<string, Load>;
  queue: FairQueue<() => void>;
}

/**
 * Batches of a region that are admitted regardless of the origin's concurrency limit: while one
 * ends, the others keep the origin busy. Their requests are limited, because each one that waits
 * for a permit takes memory that the garbage collector visits repeatedly.
 */
const minBatches = 16;
const minRequests = 192;

/**
 * Requests of admitted batches per permit of the origin. One user gets half of them; the surplus
 * keeps the origin busy while batches end.
 */
const requestsPerPermit = 3;

const nothing: Load = { batches: 0, requests: 0 };

/** Returns true if a region has room for a batch of a user. */
function hasRoom({ total, users, concurrency }: Region, userId: string): boolean {
  const own = users.get(userId) ?? nothing;
  return (
    (own.batches < minBatches - total.batches && own.requests < minRequests - total.requests) ||
    own.requests < requestsPerPermit * concurrency - total.requests
  );
}

const nameOf = ({ market, region }: Applicant) => `${market} ${region}`;

/**
 * Creates an admission controller. Regions are independent up to the limit of all batches. A user
 * may use as much of a region as is still free: one user alone gets half, two users a third each,
 * so that there is always room for another. Waiting batches are admitted round-robin by region,
 * within a region by user, and by job within a user.
 */
export function createAdmission({ maxWaitingPerUser, allows }: AdmissionOptions): Admission {
  const regions = new Map<string, Region>();
  /** Regions with waiting batches, in the order of their turns. */
  const waitingRegions = new Set<Region>();
  /** Admitted batches of all regions by user. */
  const ofUsers = createBacklogs();
  let admitted = 0;
  let waiting = 0;

  const regionOf = (applicant: Applicant): Region => {
    const name = nameOf(applicant);
    const region = regions.get(name) ?? {
      concurrency: applicant.concurrency,
      total: { ...nothing },
      users: new Map(),
      queue: createFairQueue(),
    };
    regions.set(name, region);
    return region;
  };

  /** Forgets a region without batches, of which a process meets any number. */
  const forgetIfIdle = (applicant: Applicant): void => {
    const name = nameOf(applicant);
    const region = regions.get(name);
    if (region?.total.batches === 0 && region.queue.size === 0) regions.delete(name);
  };

  const isAllowed = (region: Region, userId: string): boolean =>
    hasRoom(region, userId) && allows(ofUsers.of(userId), admitted);

  const admit = (applicant: Applicant): (() => void) => {
    const { userId, requests } = applicant;
    const region = regionOf(applicant);
    admitted += 1;
    const removeOfUser = ofUsers.add(userId);
    const own = region.users.get(userId) ?? { ...nothing };
    region.users.set(userId, own);
    for (const load of [own, region.total]) {
      load.batches += 1;
      load.requests += requests;
    }
    return () => {
      admitted -= 1;
      removeOfUser();
      for (const load of [own, region.total]) {
        load.batches -= 1;
        load.requests -= requests;
      }
      if (own.batches === 0) region.users.delete(userId);
      resume();
      forgetIfIdle(applicant);
    };
  };

  /** Admits waiting batches, one of each region in turn. */
  const resume = () => {
    let hasAdmitted = true;
    while (hasAdmitted) {
      hasAdmitted = false;
      for (const region of [...waitingRegions]) {
        const admitNext = region.queue.take((userId) => isAllowed(region, userId));
        if (admitNext === undefined) continue;
        admitNext();
        hasAdmitted = true;
        waitingRegions.delete(region);
        if (region.queue.size > 0) waitingRegions.add(region);
      }
    }
  };

  const tryAcquire: Admission['tryAcquire'] = (applicant) => {
    const { userId } = applicant;
    const region = regionOf(applicant);
    if (region.queue.countOf(userId) === 0 && isAllowed(region, userId)) return admit(applicant);
    forgetIfIdle(applicant);
    return null;
  };

  return {
    get waiting() {
      return waiting;
    },
    tryAcquire,
    resume,
    wait: (applicant, signal) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        const release = tryAcquire(applicant);
        if (release !== null) return resolve(release);
        const region = regionOf(applicant);
        if (region.queue.countOf(applicant.userId) >= maxWaitingPerUser) return resolve(null);
        const stopWaiting = () => {
          waiting -= 1;
          signal.removeEventListener('abort', abandon);
        };
        const admitNow = () => {
          stopWaiting();
          resolve(admit(applicant));
        };
        const abandon = () => {
          region.queue.remove(admitNow, applicant);
          if (region.queue.size === 0) waitingRegions.delete(region);
          forgetIfIdle(applicant);
          stopWaiting();
          reject(signal.reason);
        };
        waiting += 1;
        region.queue.add(admitNow, applicant);
        waitingRegions.add(region);
        signal.addEventListener('abort', abandon, { once: true });
      }),
  };
}

/**
 * Limit on the batches in progress of a process. Each one costs calls to the store while it waits,
 * to renew its claim and the permits of its origin. With work for a thousand origins, a process
 * would otherwise begin more batches than it can read, until those calls take all of the time.
 */
export interface BatchLimit {
  /**
   * Returns true if a batch of a user who has `own` of the `total` batches in progress may begin.
   * One user alone gets half of the limit, two users a third each, so that there is always room for
   * another.
   */
  allows(own: number, total: number): boolean;
  /** Records how long the store took to respond to a call, in milliseconds. */
  observe(durationMs: number): void;
}

/** Options for createBatchLimit(). */
export interface BatchLimitOptions {
  clock: Pick<Clock, 'steady'>;
  /** Called when the limit has grown. */
  onGrown(): void;
}

/** The limit at the start, and its range, in batches. */
const initialLimit = 256;
export const minBatchLimit = 64;
const maxBatchLimit = 8_192;

/** Minimum interval between two changes of the limit, in milliseconds. */
const adjustMs = 1_000;
/** Weight of one call in the moving average of the durations. */
const weight = 0.1;
/** Average duration below which the limit may grow, in milliseconds. */
const fastMs = 40;
/** Average duration above which the limit shrinks, in milliseconds. */
const slowMs = 100;

/**
 * Creates a limit that adapts like the window of TCP: while the store responds slowly, or the
 * process is late to read its responses, the limit shrinks by a quarter each second. It grows by a
 * tenth each second in which it was reached and calls were fast.
 */
export function createBatchLimit({ clock, onGrown }: BatchLimitOptions): BatchLimit {
  let limit = initialLimit;
  let averageMs = 0;
  let isReached = false;
  let adjustedAt = clock.steady();

  const adjust = () => {
    adjustedAt = clock.steady();
    const wasReached = isReached;
    isReached = false;
    if (averageMs > slowMs) {
      limit = Math.max(minBatchLimit, Math.floor(limit * 0.75));
    } else if (wasReached && averageMs < fastMs && limit < maxBatchLimit) {
      limit = Math.min(maxBatchLimit, Math.ceil(limit * 1.1));
      onGrown();
    }
  };

  return {
    allows(own, total) {
      if (own < limit - total) return true;
      isReached = true;
      return false;
    },
    observe(durationMs) {
      averageMs += weight * (durationMs - averageMs);
      if (clock.steady() - adjustedAt >= adjustMs) adjust();
    },
  };
}
