import { type Clock, createSharedClock, type SharedClock } from '../../src/base/clock.ts';
import { createLog } from '../../src/base/log.ts';
import { Fault } from '../../src/contract/fault.ts';
import { isStream, wrapMethods } from '../../src/store/wrap.ts';
import type { Owner } from './scheduler.ts';
import type { World } from './world.ts';

/** Ports of a process to the engines. */
export type Port = 'store' | 'queue' | 'blobs';

/**
 * A simulated process. After its death no call reaches a port or returns, except requests already
 * sent.
 */
export interface Process extends Owner {
  name: string;
  /** Clock synchronized with the store on a host whose own clock is wrong. */
  clock: SharedClock;
  /** Kills the process immediately. */
  kill(): void;
  /** Suspends the process for `ms` without its noticing. */
  freeze(ms: number): void;
  /** Calls `run` when the process is killed. */
  onDeath(run: () => void): void;
  /** Simulated time of the last freeze. Null if there was none. */
  readonly frozenAt: number | null;
  /**
   * Makes a call in simulated time and injects faults. `perform` takes effect at one moment; the
   * process may die or freeze before and after it.
   */
  call<T>(port: Port, name: string, perform: () => Promise<T> | T): Promise<T>;
  /**
   * Wraps a port so that every method goes through `call`. `observe` is called for each call that
   * took effect.
   */
  through<P extends object>(port: Port, target: P, observe?: CallObserver): P;
}

/** Observer of calls that took effect, called before the caller gets the result. */
export type CallObserver = (
  process: Process,
  name: string,
  parameters: unknown[],
  result: unknown,
) => unknown;

/** Starts a process on a host whose clock is `skewMs` ahead of simulated time. */
export function startProcess(world: World, name: string, skewMs: number): Process {
  const { scheduler, random } = world;
  const deaths: (() => void)[] = [];
  const cutOffUntil: Partial<Record<Port, number>> = {};
  let alive = true;
  let frozenUntil = 0;
  let frozenAt: number | null = null;
  const startedAt = scheduler.now();
  world.trace(`${name} starts`);

  const latency = () => (random.once(30) ? random.integer(200, 3_000) : random.integer(0, 20));
  const unavailable = (port: Port) =>
    new Fault('unavailable', `The simulated ${port} does not answer.`);
  const drawFault = (): 'refused' | 'before' | 'after' | null => {
    const { refused, responseLost } = world.rates;
    if (world.happens(refused)) return 'refused';
    return world.happens(responseLost) ? 'after' : null;
  };
  const disturb = () => {
    if (world.happens(world.rates.killed)) process.kill();
    else if (world.happens(world.rates.frozen)) process.freeze(random.integer(1_000, 60_000));
  };

  const host: Clock = {
    now: () => scheduler.now() + skewMs,
    steady: () => scheduler.now() + skewMs,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        signal?.throwIfAborted();
        const abort = () => {
          waking.cancel();
          reject(signal!.reason);
        };
        const wake = () => {
          signal?.removeEventListener('abort', abort);
          resolve();
        };
        const waking = scheduler.after(ms, { owner: process, run: wake });
        signal?.addEventListener('abort', abort, { once: true });
      }),
  };
  const clock = createSharedClock({
    host,
    monotonic: () => scheduler.now() - startedAt,
    readTime: () => process.call('store', 'time', scheduler.now),
    record: world.clockRecord,
    isOneHost: false,
    log: createLog('silent', name),
  });

  const process: Process = {
    name,
    get alive() {
      return alive;
    },
    get frozenUntil() {
      return frozenUntil;
    },
    get frozenAt() {
      return frozenAt;
    },
    clock,
    kill() {
      if (!alive) return;
      world.trace(`${name} is killed`);
      alive = false;
      for (const run of deaths) run();
    },
    freeze(ms) {
      world.trace(`${name} freezes for ${ms} ms`);
      frozenAt = scheduler.now();
      frozenUntil = scheduler.now() + ms;
    },
    onDeath: (run) => deaths.push(run),

    call: (port, method, perform) =>
      new Promise((resolve, reject) => {
        const later = (run: () => unknown) => scheduler.after(0, { owner: process, run });
        const effect = async () => {
          try {
            const fate = drawFault();
            if (fate === 'refused' || (cutOffUntil[port] ?? 0) > scheduler.now())
              throw unavailable(port);
            const result = await perform();
            world.trace(`${name} ${port}.${method}${fate === null ? '' : ' (response lost)'}`);
            disturb();
            later(() => (fate === null ? resolve(result) : reject(unavailable(port))));
          } catch (error) {
            world.trace(`${name} ${port}.${method}: ${(error as Error).message}`);
            later(() => reject(error));
          }
        };
        const arrive = () => {
          disturb();
          if (world.happens(world.rates.cutOff))
            cutOffUntil[port] = scheduler.now() + random.integer(5_000, 40_000);
          if (!alive) return;
          if (frozenUntil > scheduler.now()) later(effect);
          else return effect();
        };
        // A request sent before the death may still arrive.
        const orphaned = async () => {
          if (random.once(2)) return;
          world.trace(`${name} ${port}.${method} (after its death)`);
          await Promise.resolve(perform()).catch(() => {});
        };
        scheduler.after(latency(), { owner: process, run: arrive, orphaned });
      }),

    through: (port, target, observe = () => {}) =>
      wrapMethods(target, (name, method) => {
        const call = (perform: () => unknown) => process.call(port, name, perform);
        if (!isStream(name)) {
          return (...parameters) =>
            call(async () => {
              const result = await method(...parameters);
              await observe(process, name, parameters, result);
              return result;
            });
        }
        // Each element counts as a call.
        return async function* (...parameters) {
          const elements = (method(...parameters) as AsyncIterable<unknown>)[
            Symbol.asyncIterator
          ]();
          for (;;) {
            const next = (await call(() => elements.next())) as IteratorResult<unknown>;
            if (next.done) return;
            yield next.value;
          }
        };
      }),
  };
  return process;
}
