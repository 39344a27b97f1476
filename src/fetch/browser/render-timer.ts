/** Options for createRenderTimer(). */
export interface RenderTimerOptions {
  /** Time without requests in progress after which a loaded document counts as rendered, in milliseconds. */
  quietMs: number;
  /** Time after which a loaded document counts as rendered regardless of its requests. Null for no limit. */
  settleMs: number | null;
  /** Returns true while no request is in progress. */
  isQuiet(): boolean;
  /** Called when the document counts as rendered. */
  onRendered(): void;
}

/** Timer that detects when a document is rendered. */
export interface RenderTimer {
  /** Sets whether the shown document is loaded. */
  setLoaded(isLoaded: boolean): void;
  /** Starts the time limit for a loaded document. */
  startSettling(): void;
  /** Restarts the wait for a quiet network, after a request has started or ended. */
  restartQuiet(): void;
  stop(): void;
}

/** Creates a stopped timer. */
export function createRenderTimer({
  quietMs,
  settleMs,
  isQuiet,
  onRendered,
}: RenderTimerOptions): RenderTimer {
  let loaded = false;
  let quietTimer: NodeJS.Timeout | undefined;
  let settleTimer: NodeJS.Timeout | undefined;
  return {
    setLoaded: (isLoaded) => {
      loaded = isLoaded;
    },
    startSettling: () => {
      clearTimeout(settleTimer);
      if (settleMs !== null) settleTimer = setTimeout(onRendered, settleMs);
    },
    restartQuiet: () => {
      clearTimeout(quietTimer);
      if (loaded && isQuiet()) quietTimer = setTimeout(onRendered, quietMs);
    },
    stop: () => {
      clearTimeout(quietTimer);
      clearTimeout(settleTimer);
    },
  };
}
