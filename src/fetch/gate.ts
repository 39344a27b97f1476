/** Lets so many callers in at once, in the order they came. */
export interface Gate {
  /** Resolves, once there is room, with the function that makes room again. Rejects with the
   *  signal's reason when aborted before. */
  enter(signal?: AbortSignal): Promise<() => void>;
  /** Callers that are in or waiting. */
  readonly busy: number;
}

/** Makes a gate with this much room. */
export function createGate(room: number): Gate {
  let inside = 0;
  const waiting = new Set<() => void>();

  const leave = () => {
    const [first] = waiting;
    if (first === undefined) {
      inside -= 1;
      return;
    }
    waiting.delete(first);
    first();
  };

  const once = () => {
    let left = false;
    return () => {
      if (!left) leave();
      left = true;
    };
  };

  return {
    get busy() {
      return inside + waiting.size;
    },
    enter: (signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        if (inside < room) {
          inside += 1;
          return resolve(once());
        }
        const giveUp = () => {
          waiting.delete(comeIn);
          reject(signal!.reason);
        };
        const comeIn = () => {
          signal?.removeEventListener('abort', giveUp);
          resolve(once());
        };
        waiting.add(comeIn);
        signal?.addEventListener('abort', giveUp, { once: true });
      }),
  };
}
