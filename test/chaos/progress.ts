/** The longest time that the clients saw no unit end while a job was outstanding. */
export interface ProgressWatch {
  /** A job is outstanding from now on. */
  begin(): void;
  /** Units ended. */
  advance(): void;
  /** A job is no longer outstanding. */
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
