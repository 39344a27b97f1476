import type { Clock } from '../base/clock.ts';

/**
 * Urgent tasks that this process works on. Other requests make room for them, because they share
 * its event loop.
 */
export interface UrgentTasks {
  /** True while a task is in progress. */
  readonly isActive: boolean;
  /**
   * Starts a task. Returns the function that ends it. A task ends automatically after 250 ms,
   * because longer ones wait for sites.
   */
  begin(): () => void;
  /** Calls `listener` once when no task is in progress any more. */
  onceIdle(listener: () => void): void;
}

/** Maximum duration of a task in milliseconds. */
const maxTaskMs = 250;

/** Creates urgent work without tasks. */
export function createUrgentTasks(clock: Clock): UrgentTasks {
  const listeners = new Set<() => void>();
  let tasks = 0;

  const finish = () => {
    tasks -= 1;
    if (tasks > 0) return;
    const waiting = [...listeners];
    listeners.clear();
    for (const listener of waiting) listener();
  };

  return {
    get isActive() {
      return tasks > 0;
    },
    begin: () => {
      tasks += 1;
      const ended = new AbortController();
      // Settles when the task ends or its time is over, whichever comes first.
      clock.sleep(maxTaskMs, ended.signal).then(finish, finish);
      return () => ended.abort();
    },
    onceIdle: (listener) => listeners.add(listener),
  };
}
