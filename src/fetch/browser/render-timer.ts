/** Options for createRenderTimer(). */
export interface RenderTimerOptions {
  /**
   * Time without requests in progress after which a loaded document counts as rendered, in
   * milliseconds.
   */
  quietMs: number;
  /**
   * Time after which a shown document counts as rendered regardless of its requests, in
   * milliseconds.
   */
  settleMs: number;
  /** Returns true while no request is in progress. */
  isQuiet(): boolean;
  /** Called when a loaded document has been quiet, and may be called again after restartQuiet(). */
  onQuiet(): void;
  /** Called at the end of the time limit for a shown document. */
  onSettled(): void;
}

/** Timer that detects when a document is rendered. */
export interface RenderTimer {
  /** True while the shown document is loaded. */
  readonly isLoaded: boolean;
  /** Sets whether the shown document is loaded. */
  setLoaded(isLoaded: boolean): void;
  /** Starts the time limit for a shown document. */
  startSettling(): void;
  /** Restarts the wait for a quiet network, after a request has started or ended. */
  restartQuiet(): void;
  stop(): void;
}

/** Interval between checks for requests that have become long polls, in milliseconds. */
const recheckMs = 250;

/** Creates a stopped timer. */
export function createRenderTimer(options: RenderTimerOptions): RenderTimer {
  const { quietMs, settleMs, isQuiet, onQuiet, onSettled } = options;
  let loaded = false;
  let quietTimer: NodeJS.Timeout | undefined;
  let settleTimer: NodeJS.Timeout | undefined;
  const restartQuiet = () => {
    clearTimeout(quietTimer);
    if (!loaded) return;
    quietTimer = isQuiet() ? setTimeout(onQuiet, quietMs) : setTimeout(restartQuiet, recheckMs);
  };
  return {
    get isLoaded() {
      return loaded;
    },
    setLoaded: (isLoaded) => {
      loaded = isLoaded;
    },
    startSettling: () => {
      clearTimeout(settleTimer);
      settleTimer = setTimeout(onSettled, settleMs);
    },
    restartQuiet,
    stop: () => {
      clearTimeout(quietTimer);
      clearTimeout(settleTimer);
    },
  };
}
