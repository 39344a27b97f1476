import { createFairQueue, type FairQueue, type Owner } from '../base/fair-queue.ts';

/** A batch that wants to be worked on. */
export interface Applicant extends Owner {
  region: string;
  /** Requests that the batch has under way at once. */
  requests: number;
}

/** Decides which batches of a market and lane this process works on. */
export interface Admission {
  /** Admits a batch if there is room and no other of its user waits: returns the function that ends its stay, or null. */
  tryEnter(applicant: Applicant): (() => void) | null;
  /**
   * Resolves with that function once the batch is admitted; with null at once when its user has too many batches
   * waiting already. Rejects with the signal's reason when aborted before.
   */
  wait(applicant: Applicant, signal: AbortSignal): Promise<(() => void) | null>;
  /** Batches that wait. */
  readonly waiting: number;
}

/** Options for createAdmission(). */
export interface AdmissionOptions {
  /** Requests that a region's origin can have under way at once. */
  concurrency: number;
  /** Batches of one user that wait at most. */
  maxWaitingPerUser: number;
}

/** Batches and their requests. */
interface Load {
  batches: number;
  requests: number;
}

/** A region: what is under way, by user, and what waits. */
interface Region {
  total: Load;
  users: Map<string, Load>;
  line: FairQueue<() => void>;
}

/**
 * Batches of a region that are worked on at once however few requests its origin bears: while one ends, the others
 * keep the origin busy. They have no more than these requests: every one that waits for a permit takes memory that the
 * garbage collector visits again and again.
 */
const minBatches = 16;
const minRequests = 192;

/** Requests of admitted batches for each that the origin bears: one user gets half, and half as much again keeps the
 *  origin busy while batches end. */
const requestsPerPermit = 3;

const nothing: Load = { batches: 0, requests: 0 };

/**
 * Creates an admission without batches. Regions do not affect each other. In a region a user may have as much under
 * way as is free: one user alone gets half, two a third each, so that there is always room for another. Batches that
 * wait are admitted by users in turn, and by the jobs of a user in turn.
 */
export function createAdmission({ concurrency, maxWaitingPerUser }: AdmissionOptions): Admission {
  const regions = new Map<string, Region>();
  let waiting = 0;

  const regionOf = (name: string): Region => {
    const region = regions.get(name) ?? { total: { ...nothing }, users: new Map(), line: createFairQueue() };
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
      if (region.total.batches === 0 && region.line.size === 0) regions.delete(name);
    };
  };

  const admitWaiting = (region: Region) => {
    for (;;) {
      const next = region.line.take((userId) => hasRoom(region, userId));
      if (next === undefined) return;
      next();
    }
  };

  const tryEnter: Admission['tryEnter'] = (applicant) => {
    const { region: name, userId } = applicant;
    const region = regionOf(name);
    if (region.line.countOf(userId) > 0 || !hasRoom(region, userId)) return null;
    return admit(name, applicant);
  };

  return {
    get waiting() {
      return waiting;
    },
    tryEnter,
    wait: (applicant, signal) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(signal.reason);
        const leave = tryEnter(applicant);
        if (leave !== null) return resolve(leave);
        const region = regionOf(applicant.region);
        if (region.line.countOf(applicant.userId) >= maxWaitingPerUser) return resolve(null);
        const leaveLine = () => {
          waiting -= 1;
          signal.removeEventListener('abort', giveUp);
        };
        const comeIn = () => {
          leaveLine();
          resolve(admit(applicant.region, applicant));
        };
        const giveUp = () => {
          region.line.remove(comeIn, applicant);
          leaveLine();
          reject(signal.reason);
        };
        waiting += 1;
        region.line.add(comeIn, applicant);
        signal.addEventListener('abort', giveUp, { once: true });
      }),
  };
}
