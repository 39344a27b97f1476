/**
 * Request of a reader. The origin comes from the configuration, unless the caller names a store.
 */
export interface PageRequest {
  method?: 'GET' | 'POST';
  /** Path and query on the origin: "/api/v4/pdp/get_pc?item_id=1". */
  path: string;
  /** Headers by lower-case name, without credentials and internal headers. */
  headers?: Record<string, string>;
  body?: string;
  /**
   * Initial cookies by name, such as language and currency. A value that the site has set takes
   * precedence.
   */
  preferences?: Readonly<Record<string, string>>;
  /**
   * Scheme, host, and port of the store, for markets whose stores the caller names (mktf). Private
   * addresses are refused when the connection is made.
   */
  origin?: string;
  /**
   * Redirects to follow, up to three: within the origin, or to any site, or to the addresses for
   * which the function returns true, for a store that the caller names. For a robots.txt up to
   * five, to any site, as RFC 9309 requires; other origins are checked like origins that callers
   * name. By default, and for any other redirect, the redirect itself is the response.
   */
  redirects?: 'same_origin' | 'anywhere' | 'robots_file' | ((target: URL) => boolean);
  /**
   * Page that a browser loads instead; by default, the document at `path` after rendering. Ignored
   * by plain HTTP.
   */
  page?: BrowserPage;
  /**
   * Returns true if a document shows everything that its reader expects. A browser waits longer for
   * a document that does not. Plain HTTP runs no scripts, and ignores it.
   */
  isReady?: (document: PageResponse) => boolean;
  /**
   * Time for which a browser waits until a loaded document is ready, in milliseconds; by default
   * 3,000.
   */
  readyMs?: number;
  /**
   * Throws if a path must not be loaded. A browser calls it before a redirect or a script navigates
   * to another page of the origin. Plain HTTP does not navigate.
   */
  assertAllowed?: (path: string) => void;
}

/** A page to load in a browser. */
export interface BrowserPage {
  /** Path and query of the page. */
  path: string;
  /**
   * `response`: the response to the page's own request for the path of the PageRequest, on the
   * page's site. `document`: the page itself after rendering.
   */
  take: 'response' | 'document';
  /**
   * Query parameters that must equal the ones in the PageRequest, for pages that request the same
   * path more than once.
   */
  same?: readonly string[];
}

/**
 * A complete, untrusted response. With a browser: the response that the page requested, or the
 * document, which also takes the place of a response that the page never requested.
 */
export interface PageResponse {
  status: number;
  /** Headers by lower-case name; repeated values are joined with ", ". */
  headers: Record<string, string>;
  body: Buffer;
  /** URL of the response, after redirects. */
  url: string;
  /** Time at which the response was complete, in milliseconds since the epoch. */
  at: number;
  /** True if a browser stopped waiting for a document that its reader did not find ready. */
  isPending?: true;
}

/**
 * Fetches one page. Rejects with `network`, `page_timeout`, `page_too_large`, `page_throttled`,
 * `origin_missing`, or `address_refused`; with a browser also with `browser_missing`,
 * `browser_failed`, or `page_unreadable` if no page was shown. A status is never a fault: readers
 * classify responses.
 */
export type FetchPage = (request: PageRequest) => Promise<PageResponse>;
