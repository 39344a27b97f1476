import { onAbort } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { createFairQueue, type FairQueue, type Owner } from '../base/fair-queue.ts';

/** Options for acquiring a permit. */
export interface AcquireOptions {
  /** True for a caller that takes precedence over callers that are not urgent. */
  urgent?: boolean;
  /**
   * User and job of the caller; permits alternate between users, and between the jobs of a user. By
   * default, all callers belong to one user.
   */
  owner?: Owner;
}

/**
 * Limit on concurrent callers. Users, and the jobs of a user, get equal shares; callers of one job
 * are served in the order of their owner, and as they came.
 */
export interface ConcurrencyLimit {
  /**
   * Resolves with the release function of a permit once one is free. Rejects with the signal's
   * reason if aborted.
   */
  acquire(signal?: AbortSignal, options?: AcquireOptions): Promise<() => void>;
  /** Changes the number of permits. Permits in use remain valid. */
  resize(permits: number): void;
  /** Rejects all waiting callers with this reason. */
  rejectWaiting(reason: unknown): void;
  /** Number of permits in use. */
  readonly inUse: number;
  /** Number of waiting callers. */
  readonly waiting: number;
}

const sharedOwner: Owner = { userId: '', jobId: '' };

/** A caller waiting for a permit. */
interface Waiter {
  grant(): void;
  reject(reason: unknown): void;
}

/**
 * While urgent work is in progress, this many permits are withheld from callers that are not
 * urgent, so that a process whose processor is the bottleneck responds faster. Origins that are
 * slow enough for more permits lose little.
 */
const maxWithheld = 64;
/** Permits that are never withheld. */
const minShared = 4;

/**
 * Creates a limit with this number of permits. A user holds at most `maxPerUser` of them at a time.
 * With `urgentTasks`, its tasks reduce the permits of other callers.
 */
export function createConcurrencyLimit(
  permits: number,
  urgentTasks?: UrgentTasks,
  maxPerUser = Number.POSITIVE_INFINITY,
): ConcurrencyLimit {
  let inUse = 0;
  const held = new Map<string, number>();
  const mayHold = (userId: string) => (held.get(userId) ?? 0) < maxPerUser;
  const waiting = createFairQueue<Waiter>();
  const urgentWaiting = createFairQueue<Waiter>();

  /** Returns true if a caller that is not urgent may get a permit. */
  const isShared = () => {
    if (!urgentTasks?.isActive || inUse < Math.max(minShared, permits - maxWithheld)) return true;
    urgentTasks.onceIdle(grantFree);
    return false;
  };

  const grantFree = () => {
    while (inUse < permits) {
      const waiter =
        urgentWaiting.take(mayHold) ?? (isShared() ? waiting.take(mayHold) : undefined);
      if (waiter === undefined) return;
      waiter.grant();
    }
  };

  const createPermit = ({ userId }: Owner) => {
    inUse += 1;
    held.set(userId, (held.get(userId) ?? 0) + 1);
    let released = false;
    return () => {
      if (released) return;
      released = true;
      inUse -= 1;
      const left = held.get(userId)! - 1;
      if (left > 0) held.set(userId, left);
      else held.delete(userId);
      grantFree();
    };
  };

  return {
    get inUse() {
      return inUse;
    },
    get waiting() {
      return urgentWaiting.size + waiting.size;
    },
    acquire: (signal, { urgent = false, owner = sharedOwner } = {}) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        if (inUse < permits && mayHold(owner.userId) && (urgent || isShared()))
          return resolve(createPermit(owner));
        const waiter = {
          grant: () => {
            stopListening?.();
            resolve(createPermit(owner));
          },
          reject: (reason: unknown) => {
            stopListening?.();
            queue.remove(waiter, owner);
            reject(reason);
          },
        };
        const queue: FairQueue<Waiter> = urgent ? urgentWaiting : waiting;
        queue.add(waiter, owner);
        const stopListening = signal && onAbort(signal, () => waiter.reject(signal.reason));
      }),
    resize: (next) => {
      permits = next;
      grantFree();
    },
    rejectWaiting: (reason) => {
      for (const { reject } of [...urgentWaiting.entries(), ...waiting.entries()]) reject(reason);
    },
  };
}

/**
 * Urgent tasks that this process works on. Other requests make room for them, because they share
 * its event loop.
 */
export interface UrgentTasks {
  /** True while a task is in progress. */
  readonly isActive: boolean;
  /**
   * Starts a task. Returns the function that ends it. A task ends automatically after 250 ms,
   * because longer ones wait for sites.
   */
  begin(): () => void;
  /** Calls `listener` once when no task is in progress any more. */
  onceIdle(listener: () => void): void;
}

/** Maximum duration of a task in milliseconds. */
const maxTaskMs = 250;

/** Creates urgent work without tasks. */
export function createUrgentTasks(clock: Clock): UrgentTasks {
  const listeners = new Set<() => void>();
  let tasks = 0;

  const finish = () => {
    tasks -= 1;
    if (tasks > 0) return;
    const waiting = [...listeners];
    listeners.clear();
    for (const listener of waiting) listener();
  };

  return {
    get isActive() {
      return tasks > 0;
    },
    begin: () => {
      tasks += 1;
      const ended = new AbortController();
      // Settles when the task ends or its time is over, whichever comes first.
      clock.sleep(maxTaskMs, ended.signal).then(finish, finish);
      return () => ended.abort();
    },
    onceIdle: (listener) => listeners.add(listener),
  };
}
