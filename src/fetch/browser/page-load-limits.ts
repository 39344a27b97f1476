/** Limits on a page, and when it counts as rendered. */
export interface RenderLimits {
  /** Maximum bytes of a document or a response. */
  bytes: number;
  /** Maximum bytes of everything that a page loads. */
  pageBytes: number;
  /** Maximum requests of a page. */
  requests: number;
  /**
   * Time without requests in progress after which a loaded document counts as rendered, in
   * milliseconds.
   */
  quietMs: number;
  /**
   * Like `quietMs`, for a page that has not sent the expected request, and is then assumed not to
   * send it.
   */
  responseQuietMs: number;
  /**
   * Time after which a shown document counts as rendered regardless of its requests, in
   * milliseconds.
   */
  settleMs: number;
  /** Like `settleMs`, for a page whose expected request is not in progress. */
  responseSettleMs: number;
  /**
   * Time after which a quiet document is the result although the reader expects more of it, in
   * milliseconds.
   */
  readyMs: number;
}

/** Limits on the size and duration of a page. */
export interface PageLoadLimits extends RenderLimits {
  /** Timeout of a page, in milliseconds. */
  totalMs: number;
}

export const defaultPageLoadLimits: PageLoadLimits = {
  bytes: 16 * 1024 * 1024,
  pageBytes: 64 * 1024 * 1024,
  requests: 500,
  totalMs: 30_000,
  quietMs: 500,
  responseQuietMs: 3_000,
  settleMs: 8_000,
  responseSettleMs: 5_500,
  readyMs: 3_000,
};
