/** Options of a call. */
export interface CallOptions {
  signal?: AbortSignal;
}
