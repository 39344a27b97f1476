/** Target of a request: an origin, and the market and region that it was requested for. */
export interface RequestTarget {
  /** Scheme, host, and port. */
  origin: string;
  market: string;
  /** Empty for a market without regions. */
  region: string;
}

/** Observer of all requests to sites. Its methods must not throw or block. */
export interface RequestObserver {
  /** Reports a request that received a response or failed without one, with its duration. */
  ended(target: RequestTarget, milliseconds: number): void;
  /** Reports that the site refused an ended request or failed. Called at most once per request. */
  classified(target: RequestTarget, kind: 'refused' | 'failed'): void;
}
