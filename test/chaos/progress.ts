/** Measures the longest time without progress while a job was outstanding. */
export interface ProgressWatch {
  /** Records the start of a job. */
  begin(): void;
  /** Records that units have ended. */
  advance(): void;
  /** Records the end of a job. */
  end(): void;
  longestMs(): number;
}

/** Creates a watch. */
export function createProgressWatch(now: () => number = Date.now): ProgressWatch {
  let outstanding = 0;
  let last = 0;
  let longest = 0;
  const advance = () => {
    if (outstanding > 0) longest = Math.max(longest, now() - last);
    last = now();
  };
  return {
    begin() {
      if (outstanding === 0) last = now();
      outstanding += 1;
    },
    advance,
    end() {
      advance();
      outstanding -= 1;
    },
    longestMs: () => longest,
  };
}
