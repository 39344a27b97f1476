/** What a reader asks an origin for. The origin itself comes from configuration, never from here. */
export interface PageRequest {
  method?: 'GET' | 'POST';
  /** Path and query on the origin: "/api/v4/pdp/get_pc?item_id=1". */
  path: string;
  /** Lower-case names. Credentials and internal headers never go in here. */
  headers?: Record<string, string>;
  body?: string;
  /** Choices of a visitor that the site keeps in cookies, such as language and money, by the cookie's name. They
   *  are those of a new visitor: where the site has set another value, that one goes out. */
  preferences?: Readonly<Record<string, string>>;
  /** For markets whose stores are named by the caller (mktf): scheme, host and port of the store.
   *  Checked against private addresses at connect time. */
  origin?: string;
  /** Redirects to follow, up to three: those that stay on the origin, or, for a store named by the
   *  caller, any. Without it, and for any other redirect, the redirect itself is the answer. */
  redirects?: 'same_origin' | 'anywhere';
  /** What a browser opens instead, for markets that are read with one. Absent: the document at `path`,
   *  after rendering. Plain HTTP does not look at it. */
  page?: BrowserPage;
  /** Asked by a browser before it opens a further page on the origin, where a redirect or a script leads to
   *  it; throws the fault where that must not be opened. Plain HTTP goes nowhere by itself. */
  permits?: (path: string) => void;
}

/** A page whose own scripts ask for what is wanted. */
export interface BrowserPage {
  /** Path and query of the page, as people open it. */
  path: string;
  /** `response`: the answer to the page's own request for the path of the PageRequest, on the page's
   *  site. `document`: the page itself after rendering. */
  take: 'response' | 'document';
  /** Query parameters that must be those of the PageRequest in the page's own request too, where a page
   *  asks for the same path more than once. */
  same?: readonly string[];
}

/** What came back, whole. Everything in it is untrusted. With a browser: the response that the page
 *  asked for, or the document, which also stands for a response that the page never asked for. */
export interface PageAnswer {
  status: number;
  /** Lower-case names; a repeated header's values are joined with ", ". */
  headers: Record<string, string>;
  body: Buffer;
  /** Address that answered, after redirects. */
  url: string;
  /** When the answer was complete: milliseconds since the epoch. */
  at: number;
}

/** Gets one page. Faults: `network`, `page_timeout`, `page_too_large`, `page_throttled`, `origin_missing`,
 *  `address_refused`; with a browser also `browser_missing`, `browser_failed`, and `page_unreadable` for
 *  what no page shows. A status is never a fault here: readers judge answers. */
export type FetchPage = (request: PageRequest) => Promise<PageAnswer>;
