import { onAbort } from '../base/abort.ts';
import { createFairQueue, type FairQueue, type Owner } from '../base/fair-queue.ts';

/** Who wants to be let in. */
export interface PermitRequest {
  /** Comes before all that are not. */
  urgent?: boolean;
  /** Callers of different users, and of different jobs of a user, are let in by turns. Absent: one user for all. */
  owner?: Owner;
}

/** Limits the callers that are in at once. Users, and the jobs of a user, have equal shares; callers of a job come in
 *  in the order they came. */
export interface ConcurrencyLimit {
  /** Resolves, once there is room, with the function that makes room again. Rejects with the
   *  signal's reason when aborted before. */
  enter(signal?: AbortSignal, caller?: PermitRequest): Promise<() => void>;
  /** Has room for so many from now on. Who is in stays in. */
  resize(room: number): void;
  /** Turns away who waits, with this reason. */
  refuse(reason: unknown): void;
  /** Callers that are in. */
  readonly inside: number;
  /** Callers that wait. */
  readonly waiting: number;
}

const nobody: Owner = { userId: '', jobId: '' };

/** A caller that waits. */
interface Visitor {
  comeIn(): void;
  goAway(reason: unknown): void;
}

/** Makes a gate with this much room. */
export function createConcurrencyLimit(room: number): ConcurrencyLimit {
  let inside = 0;
  const waiting = createFairQueue<Visitor>();
  const urgently = createFairQueue<Visitor>();

  const letIn = () => {
    while (inside < room) {
      const visitor = urgently.take() ?? waiting.take();
      if (visitor === undefined) return;
      inside += 1;
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
      return urgently.size + waiting.size;
    },
    enter: (signal, { urgent = false, owner = nobody } = {}) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        if (inside < room) {
          inside += 1;
          return resolve(once());
        }
        const visitor = {
          comeIn: () => {
            stopListening?.();
            resolve(once());
          },
          goAway: (reason: unknown) => {
            stopListening?.();
            line.remove(visitor, owner);
            reject(reason);
          },
        };
        const line: FairQueue<Visitor> = urgent ? urgently : waiting;
        line.add(visitor, owner);
        const stopListening = signal && onAbort(signal, () => visitor.goAway(signal.reason));
      }),
    resize: (wanted) => {
      room = wanted;
      letIn();
    },
    refuse: (reason) => {
      for (const { goAway } of [...urgently.entries(), ...waiting.entries()]) goAway(reason);
    },
  };
}
