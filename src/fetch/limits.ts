/** What a market's site may send and take at most. */
export interface MarketLimits {
  /** Decoded bytes of one page. */
  pageBytes: number;
  /** Decoded bytes of all pages of one unit. */
  unitBytes: number;
  /** Records of one unit. */
  unitRecords: number;
  /** Milliseconds of all requests of one unit together. The service's own waiting for its turn does not count. */
  unitMs: number;
}

const MiB = 1024 ** 2;

/** Limits of a market that names no others. */
export const defaultMarketLimits: Readonly<MarketLimits> = {
  pageBytes: 8 * MiB,
  unitBytes: 64 * MiB,
  unitRecords: 100_000,
  unitMs: 15 * 60_000,
};
