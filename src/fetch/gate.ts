/** Lets so many callers in at once, in the order they came. */
export interface Gate {
  /** Resolves, once there is room, with the function that makes room again. Rejects with the
   *  signal's reason when aborted before. Urgent callers come before all others. */
  enter(signal?: AbortSignal, urgent?: boolean): Promise<() => void>;
  /** Has room for so many from now on. Who is in stays in. */
  resize(room: number): void;
  /** Turns away who waits, with this reason. */
  refuse(reason: unknown): void;
  /** Callers that are in. */
  readonly inside: number;
  /** Callers that wait. */
  readonly waiting: number;
}

/** A caller that waits. */
interface Visitor {
  comeIn(): void;
  goAway(reason: unknown): void;
}

/** Makes a gate with this much room. */
export function createGate(room: number): Gate {
  let inside = 0;
  const waiting = new Set<Visitor>();
  const urgently = new Set<Visitor>();

  const letIn = () => {
    for (const line of [urgently, waiting]) {
      for (const visitor of line) {
        if (inside >= room) return;
        inside += 1;
        line.delete(visitor);
        visitor.comeIn();
      }
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
      return urgently.size + waiting.size;
    },
    enter: (signal, urgent = false) =>
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
            line.delete(visitor);
            reject(reason);
          },
        };
        const line = urgent ? urgently : waiting;
        line.add(visitor);
        signal?.addEventListener('abort', giveUp, { once: true });
      }),
    resize: (wanted) => {
      room = wanted;
      letIn();
    },
    refuse: (reason) => {
      for (const { goAway } of [...urgently, ...waiting]) goAway(reason);
    },
  };
}
