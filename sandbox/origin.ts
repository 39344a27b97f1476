/** A request to a fake marketplace. */
export interface OriginRequest {
  method: string;
  url: URL;
  /** Headers by lower-case name. */
  headers: Record<string, string>;
  body: string;
  /** Region of the address. Empty for a market with one origin. */
  region: string;
}

/** Response of a fake marketplace. A string body is sent as UTF-8. */
export interface OriginReply {
  status: number;
  headers: Record<string, string>;
  body: string | Uint8Array;
}

/**
 * A fake marketplace: invented values in the form of the real site's responses. The same request
 * gets the same response. sandbox/server.ts injects faults on the wire (drops, stalls, truncations,
 * throttling).
 */
export interface Origin {
  /** Name in paths: "mkta". */
  readonly market: string;
  /** Regions with an address each; [''] for a market with one origin. */
  readonly regions: readonly string[];
  respond(request: OriginRequest): OriginReply;
  /**
   * Returns the subject of a request: an item id, a keyword or a shop. Its last three digits select
   * the fault to inject (README.md). Absent or undefined: no faults.
   */
  subject?(request: OriginRequest): string | undefined;
  /** Returns the page for a refused robot. Absent: a plain 403. */
  blocked?(request: OriginRequest): OriginReply;
  /**
   * Returns the response to a request that was not sent by a page's script, if the address serves
   * browsers only, or undefined for paths that are served to any client. Absent: every path is.
   */
  plain?(request: OriginRequest): OriginReply | undefined;
}
