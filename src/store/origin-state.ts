/** What workers know together of an origin that refused or failed. */
export interface OriginPause {
  /** Raised by one with every change; 0 before the first. */
  change: number;
  /** Nothing is asked of the origin before; 0: there is no pause. */
  until: number;
  /** Why: a fault's code or a status, such as "page_blocked"; '' without. */
  reason: string;
  /** Pauses in a row. */
  failures: number;
  /** When the first of them began. */
  since: number;
  /** One request is on its way, to see whether the pauses can end; `until` is when it is given up. */
  probing: boolean;
}

/** An origin of which nothing is known. */
export const noPause: OriginPause = {
  change: 0,
  until: 0,
  reason: '',
  failures: 0,
  since: 0,
  probing: false,
};

/** What a process asks for, of the permits of an origin that all processes share. */
export interface PermitRequest {
  /** The process. */
  holder: string;
  /** Requests of the process that are under way: so many permits it holds until they end. */
  busy: number;
  /** Permits that it could use; 0 gives back all that are not busy. */
  wanted: number;
  /** Permits of the origin, over all processes together. */
  limit: number;
  now: number;
  /** When the permits go back to the others unless the process asks again. */
  until: number;
}

/** Politeness that holds over all workers together. */
export interface OriginStore {
  /**
   * Takes `slots` request slots of an origin, `intervalMs` apart, none before `now`; gives the time
   * of the first. Slots of different callers never overlap.
   */
  reserveRequests(
    origin: string,
    slots: number,
    intervalMs: number,
    now: number,
  ): Promise<{ first: number; pause: OriginPause }>;
  /**
   * Replaces what a process holds of an origin's permits, and gives how many requests it may have under
   * way from now on: at most what the others leave, and no more than its fair share where all together
   * want more than there is.
   */
  leasePermits(origin: string, request: PermitRequest): Promise<{ permits: number; pause: OriginPause }>;
  /** What is known of the origin now. */
  getPause(origin: string): Promise<OriginPause>;
  /**
   * Writes a pause over the one that its writer read: `change` must be one more than that one's.
   * `written: false` when another came first; gives what is known after the call.
   */
  putPause(origin: string, pause: OriginPause): Promise<{ written: boolean; pause: OriginPause }>;
  /** Origins with strikes, by name. */
  listPauses(): Promise<(OriginPause & { origin: string })[]>;
}
