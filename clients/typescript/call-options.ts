/** Options of a call. */
export interface CallOptions {
  signal?: AbortSignal;
}

/** Options of a call that can take an idempotency key. */
export interface UnaryOptions extends CallOptions {
  /**
   * 1 to 255 visible ASCII characters. With it, the call is repeated after transient errors, and
   * has one effect. Only for the methods that accept a key (docs/api.md).
   */
  idempotencyKey?: string;
}
