/** State of an origin: `ready` means that its pause is over and the next request is a trial. */
export type OriginState = 'unused' | 'ok' | 'paused' | 'trial' | 'ready';

/** Values that determine the state of an origin. */
export interface OriginActivity {
  /** End of the pause in milliseconds since the epoch; absent without a pause. */
  pausedUntilMs: number | undefined;
  /** Whether a trial request is under way. */
  probing: boolean;
  /** Recent requests. */
  minutes: readonly { requests: number }[];
}

/** Returns the state of an origin. */
export function originState({ pausedUntilMs, probing, minutes }: OriginActivity, nowMs: number): OriginState {
  if (pausedUntilMs === undefined) return minutes.some(({ requests }) => requests > 0) ? 'ok' : 'unused';
  if (probing) return 'trial';
  return pausedUntilMs > nowMs ? 'paused' : 'ready';
}
