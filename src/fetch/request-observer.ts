/** Target of a request: an origin, and the market and region that it was requested for. */
export interface RequestTarget {
  /** Scheme, host, and port. */
  origin: string;
  market: string;
  /** Empty for a market without regions. */
  region: string;
}

/**
 * Outcome of a request for its origin. `inconclusive`: the response says nothing about the origin.
 */
export type RequestKind = 'succeeded' | 'refused' | 'failed' | 'inconclusive';

/** Observer of all requests to sites. Its methods must not throw or block. */
export interface RequestObserver {
  /** Reports a request that received a response or failed without one, with its duration. */
  ended(target: RequestTarget, milliseconds: number): void;
  /** Reports the outcome of an ended request. Called at most once per request. */
  classified(target: RequestTarget, kind: RequestKind): void;
}
