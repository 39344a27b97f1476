import { createFairQueue, type FairQueue, type Owner } from '../base/fair-queue.ts';

/** A batch that waits for admission. */
export interface Applicant extends Owner {
  region: string;
  /** Maximum concurrent requests of the batch. */
  requests: number;
}

/** Decides which batches of a market and lane this process works on. */
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
  /** Number of waiting batches. */
  readonly waiting: number;
}

/** Options for createAdmission(). */
export interface AdmissionOptions {
  /** Maximum concurrent requests to a region's origin. */
  concurrency: number;
  /** Maximum waiting batches of one user. */
  maxWaitingPerUser: number;
}

/** A number of batches and their requests. */
interface Load {
  batches: number;
  requests: number;
}

/** Admitted load by user, and waiting batches, of a region. */
interface Region {
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

/**
 * Creates an admission controller. Regions are independent. A user may use as much of a region as
 * is still free: one user alone gets half, two users a third each, so that there is always room for
 * another. Waiting batches are admitted round-robin by user, and by job within a user.
 */
export function createAdmission({ concurrency, maxWaitingPerUser }: AdmissionOptions): Admission {
  const regions = new Map<string, Region>();
  let waiting = 0;

  const regionOf = (name: string): Region => {
    const region = regions.get(name) ?? {
      total: { ...nothing },
      users: new Map(),
      queue: createFairQueue(),
    };
    regions.set(name, region);
    return region;
  };

  const hasRoom = ({ total, users }: Region, userId: string): boolean => {
    const own = users.get(userId) ?? nothing;
    return (
      (own.batches < minBatches - total.batches && own.requests < minRequests - total.requests) ||
      own.requests < requestsPerPermit * concurrency - total.requests
    );
  };

  const admit = (name: string, { userId, requests }: Applicant): (() => void) => {
    const region = regionOf(name);
    const own = region.users.get(userId) ?? { ...nothing };
    region.users.set(userId, own);
    for (const load of [own, region.total]) {
      load.batches += 1;
      load.requests += requests;
    }
    return () => {
      for (const load of [own, region.total]) {
        load.batches -= 1;
        load.requests -= requests;
      }
      if (own.batches === 0) region.users.delete(userId);
      admitWaiting(region);
      if (region.total.batches === 0 && region.queue.size === 0) regions.delete(name);
    };
  };

  const admitWaiting = (region: Region) => {
    for (;;) {
      const next = region.queue.take((userId) => hasRoom(region, userId));
      if (next === undefined) return;
      next();
    }
  };

  const tryAcquire: Admission['tryAcquire'] = (applicant) => {
    const { region: name, userId } = applicant;
    const region = regionOf(name);
    if (region.queue.countOf(userId) > 0 || !hasRoom(region, userId)) return null;
    return admit(name, applicant);
  };

  return {
    get waiting() {
      return waiting;
    },
    tryAcquire,
    wait: (applicant, signal) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        const release = tryAcquire(applicant);
        if (release !== null) return resolve(release);
        const region = regionOf(applicant.region);
        if (region.queue.countOf(applicant.userId) >= maxWaitingPerUser) return resolve(null);
        const stopWaiting = () => {
          waiting -= 1;
          signal.removeEventListener('abort', abandon);
        };
        const admitNow = () => {
          stopWaiting();
          resolve(admit(applicant.region, applicant));
        };
        const abandon = () => {
          region.queue.remove(admitNow, applicant);
          stopWaiting();
          reject(signal.reason);
        };
        waiting += 1;
        region.queue.add(admitNow, applicant);
        signal.addEventListener('abort', abandon, { once: true });
      }),
  };
}
