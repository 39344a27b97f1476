import type { JsonObject } from '../base/json.ts';

/** A small job on a market, for the demo and for tests against the sandbox. */
export interface MarketSample {
  title: string;
  /** Kind of job, as the contract names it: "pdp_bulk". */
  kind: string;
  /** Body of the submit request. */
  body: JsonObject;
  /**
   * Text of the `file` part, for kinds that take a multipart form. `body` holds the other parts.
   */
  csv?: string;
}

/** Samples of a market. `address` is the scheme, host and port of its first sandbox origin. */
export type MarketSamples = (address: string) => readonly MarketSample[];

/** Returns ids that the sandbox serves without faults, except that every 30th is not found. */
export function sampleIds(count: number, first: number): string[] {
  return Array.from({ length: count }, (_, at) =>
    String(first + Math.floor(at / 600) * 1000 + (at % 30 === 29 ? 800 : at % 600)),
  );
}
