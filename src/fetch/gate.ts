/** Lets so many callers in at once, in the order they came. */
export interface Gate {
  /** Resolves, once there is room, with the function that makes room again. Rejects with the
   *  signal's reason when aborted before. */
  enter(signal?: AbortSignal): Promise<() => void>;
  /** Has room for so many from now on. Who is in stays in. */
  resize(room: number): void;
  /** Turns away who waits, with this reason. */
  refuse(reason: unknown): void;
  /** Callers that are in. */
  readonly inside: number;
  /** Callers that wait. */
  readonly waiting: number;
}

/** Makes a gate with this much room. */
export function createGate(room: number): Gate {
  let inside = 0;
  const waiting = new Set<{ comeIn: () => void; goAway: (reason: unknown) => void }>();

  const letIn = () => {
    for (const visitor of waiting) {
      if (inside >= room) return;
      inside += 1;
      waiting.delete(visitor);
      visitor.comeIn();
    }
  };

  const once = () => {
    let left = false;
    return () => {
      if (left) return;
      left = true;
      inside -= 1;
      letIn();
    };
  };

  return {
    get inside() {
      return inside;
    },
    get waiting() {
      return waiting.size;
    },
    enter: (signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        if (inside < room) {
          inside += 1;
          return resolve(once());
        }
        const giveUp = () => visitor.goAway(signal!.reason);
        const visitor = {
          comeIn: () => {
            signal?.removeEventListener('abort', giveUp);
            resolve(once());
          },
          goAway: (reason: unknown) => {
            signal?.removeEventListener('abort', giveUp);
            waiting.delete(visitor);
            reject(reason);
          },
        };
        waiting.add(visitor);
        signal?.addEventListener('abort', giveUp, { once: true });
      }),
    resize: (wanted) => {
      room = wanted;
      letIn();
    },
    refuse: (reason) => {
      for (const { goAway } of [...waiting]) goAway(reason);
    },
  };
}
