/** Where a request went: the origin that a market asked for a region. */
export interface RequestPlace {
  /** Scheme, host and port. */
  origin: string;
  market: string;
  /** '' for a market without regions. */
  region: string;
}

/** Is told of every request to a site. Neither call may throw, or take long. */
export interface RequestWatch {
  /** A request was answered, or given up without an answer, so long after it was sent. */
  ended(place: RequestPlace, milliseconds: number): void;
  /** What a request that has ended came to: the site refused it, or does not work. At most once for each. */
  classified(place: RequestPlace, sort: 'refused' | 'failed'): void;
}
