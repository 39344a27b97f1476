/** A request as a fake marketplace sees it. */
export interface OriginRequest {
  method: string;
  url: URL;
  /** Lower-case names. */
  headers: Record<string, string>;
  body: string;
  /** Region that the address stands for; '' for a market of one origin. */
  region: string;
}

/** What it answers. A string body goes out as UTF-8. */
export interface OriginReply {
  status: number;
  headers: Record<string, string>;
  body: string | Uint8Array;
}

/**
 * A fake marketplace: values of our own in the shape of the real site's answers, the same for the
 * same request. How it misbehaves on the wire (drops, stalls, truncations, throttling) is added
 * around it, by sandbox/server.ts.
 */
export interface Origin {
  /** Path word: "mkta". */
  readonly market: string;
  /** Regions that get an address of their own; [''] for a market of one origin. */
  readonly regions: readonly string[];
  answer(request: OriginRequest): OriginReply;
  /** What a request is about: an item id, a keyword, a shop. Its last three digits choose the
   *  misbehaviour (README.md). Absent or undefined: the request is always served well. */
  subject?(request: OriginRequest): string | undefined;
  /** The page that a refused robot gets; absent: a plain 403. */
  blocked?(request: OriginRequest): OriginReply;
  /** What a request gets that no script of a page made, where the address serves browsers only; undefined
   *  for what it serves to anyone. Absent: it serves anyone. */
  plain?(request: OriginRequest): OriginReply | undefined;
}
