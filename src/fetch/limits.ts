/** Limits on the responses of a market's site. */
export interface MarketLimits {
  /** Decoded bytes of one page. */
  pageBytes: number;
  /** Decoded bytes of all pages of one unit. */
  unitBytes: number;
  /** Records of one unit. */
  unitRecords: number;
  /**
   * Total duration of the requests of one unit, in milliseconds, excluding the service's own rate
   * limits.
   */
  unitMs: number;
}

const MiB = 1024 ** 2;

/** Limits of a market that declares none. */
export const defaultMarketLimits: Readonly<MarketLimits> = {
  pageBytes: 8 * MiB,
  unitBytes: 64 * MiB,
  unitRecords: 100_000,
  unitMs: 15 * 60_000,
};
