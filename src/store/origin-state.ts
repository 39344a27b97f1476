/** State of an origin's circuit breaker, shared by all workers. */
export interface OriginPause {
  /** Incremented by each write; 0 before the first. */
  revision: number;
  /**
   * No requests are sent before this time; 0 without a pause. During a trial request, its timeout.
   */
  until: number;
  /**
   * Fault code or status that caused the pause, such as "page_blocked". Empty if there is no pause.
   */
  reason: string;
  /** Number of consecutive pauses. */
  failures: number;
  /** Start of the first of them. */
  since: number;
  /** True while a trial request is in progress. */
  probing: boolean;
}

/** State of an origin that was never paused. */
export const noPause: OriginPause = {
  revision: 0,
  until: 0,
  reason: '',
  failures: 0,
  since: 0,
  probing: false,
};

/**
 * Request of a process for permits of an origin, which limit concurrent requests over all
 * processes.
 */
export interface PermitRequest {
  /** Id of the process. */
  holder: string;
  /** Requests of the process in progress; each holds a permit until it ends. */
  busy: number;
  /** Permits the process could use; 0 releases all that are not busy. */
  requested: number;
  /** Permits of the origin in total. */
  limit: number;
  now: number;
  /** Expiry of the lease unless the process renews it. */
  until: number;
}

/** Permits of a process. */
export interface PermitLease {
  /**
   * Number of requests that it may have in progress: at most the permits the others leave, and at
   * most its fair share if demand exceeds the limit.
   */
  permits: number;
  /** True if no other process holds or requests permits. */
  isAlone: boolean;
  pause: OriginPause;
}

/** Rate limits and circuit breakers shared by all workers. */
export interface OriginStore {
  /**
   * Reserves `slots` request slots of an origin, `intervalMs` apart and not before `now`. Returns
   * the time of the first slot. Slots of different callers never overlap.
   */
  reserve(
    origin: string,
    slots: number,
    intervalMs: number,
    now: number,
  ): Promise<{ first: number; pause: OriginPause }>;
  /** Replaces the permits that a process holds. */
  lease(origin: string, request: PermitRequest): Promise<PermitLease>;
  /** Releases the permits that a process which has ended held, at every origin. */
  release(holder: string): Promise<void>;
  /** Returns the current state of the origin. */
  getPause(origin: string): Promise<OriginPause>;
  /**
   * Replaces the state that the caller read: `revision` must be one more than in that state.
   * Returns `written: false` if another writer was faster, and the state after the call.
   */
  putPause(origin: string, pause: OriginPause): Promise<{ written: boolean; pause: OriginPause }>;
  /**
   * Replaces the next slot of an origin by `now` if it is later than `latest.slot`, and ends its
   * pause if that is later than `latest.pause`.
   */
  discardTimes(origin: string, latest: { slot: number; pause: number }, now: number): Promise<void>;
  /** Lists origins with failures by name. */
  listPauses(): Promise<(OriginPause & { origin: string })[]>;
  /**
   * Deletes up to `limit` origins whose latest reservation, permit, and pause were before `before`.
   * Returns their number.
   */
  expire(before: number, limit: number): Promise<number>;
}
