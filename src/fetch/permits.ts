import type { Clock } from '../base/clock.ts';
import { Fault } from '../contract/fault.ts';
import type { OriginPause, OriginStore } from '../store/origin-state.ts';
import { createConcurrencyLimit, type PermitRequest } from './concurrency-limit.ts';

/** Permits of one origin that this process holds, of those that all workers share. */
export interface Permits {
  /** Resolves with a permit's release: urgent requests come first, users have equal shares (src/fetch/gate.ts).
   *  Rejects with the signal's reason when aborted before, and with what the store says when it cannot be asked. */
  enter(signal?: AbortSignal, caller?: PermitRequest): Promise<() => void>;
  /** Requests that have a permit or wait for one. */
  readonly busy: number;
  /** Gives back what is held and not in use. */
  close(): Promise<void>;
}

/** What permits are made of. */
export interface PermitOptions {
  origin: string;
  /** This process. */
  holder: string;
  /** Permits of the origin over all workers together. */
  limit: number;
  lease: OriginStore['leasePermits'];
  /** Told what the store knows of the origin. */
  learn(pause: OriginPause): void;
  clock: Clock;
}

/** How long permits are held without a sign of life: a process that dies holds them up for so long. */
export const permitLeaseMs = 6_000;

/** How often what is held is asked for again: twice it may go wrong. */
const renewMs = 2_000;

/** How often more is asked for, while the others hold it. */
const pollMs = 500;

/**
 * Makes this process's permits of an origin. They are asked for as many as are needed, kept as long as
 * they are used, and asked for again every two seconds, whatever the number of requests. What stays
 * unused goes back. Without an answer of the store nothing new begins once the lease has ended.
 */
export function createPermits(options: PermitOptions): Permits {
  const { origin, holder, limit, lease, learn, clock } = options;
  const gate = createConcurrencyLimit(0);
  let held = 0;
  /** What the store takes to be in use here, until it is told otherwise. */
  let lent = 0;
  let leasedUntil = 0;
  /** Most that were in or waiting since the store was asked last. */
  let peak = 0;
  let asked = 0;
  let keeping = false;
  let closed = false;
  let wake = () => {};

  const ended = () => new Fault('unavailable', `${origin}: no further page is asked for`);
  const demand = () => gate.inside + gate.waiting;

  const ask = async () => {
    const now = clock.now();
    const wanted = closed ? 0 : Math.min(limit, Math.max(peak, demand()));
    peak = demand();
    asked = wanted;
    const until = now + permitLeaseMs;
    const busy = gate.inside;
    const { permits, pause } = await lease(origin, { holder, busy, wanted, limit, now, until });
    held = permits;
    lent = Math.max(permits, busy);
    leasedUntil = until;
    learn(pause);
    gate.resize(permits);
  };

  /** Nothing new begins on a lease that has ended. */
  const endOverdue = () => {
    if (clock.now() < leasedUntil) return;
    held = 0;
    lent = 0;
    gate.resize(0);
  };

  /** Waits for the time to ask again, or until someone asks for more than the last time. */
  const pause = async () => {
    if (!closed && demand() > asked && asked < limit) return;
    const awake = new AbortController();
    wake = () => awake.abort();
    const changes = held < asked || gate.inside > held;
    await clock.sleep(changes ? pollMs : renewMs, awake.signal).catch(() => {});
    wake = () => {};
  };

  /** Keeps the lease as long as there is something to keep it for. */
  const keep = async () => {
    keeping = true;
    for (;;) {
      try {
        await ask();
      } catch (error) {
        gate.refuse(error);
        endOverdue();
      }
      if (lent === 0 && demand() === 0) break;
      await pause();
      endOverdue();
    }
    keeping = false;
  };

  return {
    get busy() {
      return demand();
    },
    enter: (signal, caller) => {
      if (closed) return Promise.reject(ended());
      endOverdue();
      const entering = gate.enter(signal, caller);
      peak = Math.max(peak, demand());
      if (!keeping) void keep();
      else if (demand() > asked && asked < limit) wake();
      return entering;
    },
    close: async () => {
      closed = true;
      gate.refuse(ended());
      if (lent > 0) await ask().catch(() => {});
      wake();
    },
  };
}
