/** Listeners per signal, all served by one event listener. */
const listenersOf = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls `listener` when the signal aborts and returns a function that removes the listener. Use it
 * for signals that many requests wait on: an event listener per request costs several microseconds
 * and 500 bytes. Does nothing if the signal has already aborted.
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  let listeners = listenersOf.get(signal);
  if (listeners === undefined) {
    const all = new Set<() => void>();
    listeners = all;
    listenersOf.set(signal, all);
    const callAll = () => {
      for (const each of all) each();
    };
    signal.addEventListener('abort', callAll, { once: true });
  }
  const own = listeners;
  own.add(listener);
  return () => {
    own.delete(listener);
  };
}

/** A signal that follows others until it is released. */
export interface LinkedSignal {
  readonly signal: AbortSignal;
  /** Removes the listeners from the signals that it follows. */
  release(): void;
}

/**
 * Returns a signal that aborts with the first of `sources` and with its reason. Unlike the result
 * of AbortSignal.any(), it is a plain signal: a composite signal checks all its sources on every
 * read of `aborted`.
 */
export function linkSignals(...sources: readonly AbortSignal[]): LinkedSignal {
  const controller = new AbortController();
  const removals = sources.map((source) => {
    if (source.aborted) controller.abort(source.reason);
    return onAbort(source, () => controller.abort(source.reason));
  });
  return {
    signal: controller.signal,
    release: () => {
      for (const remove of removals) remove();
    },
  };
}

/** Resolves when the signal aborts. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else onAbort(signal, resolve);
  });
}

/**
 * Settles like the promise. Rejects after `ms` milliseconds with an error that begins with `what`.
 */
export async function withTimeout<Value>(
  ms: number,
  what: string,
  promise: Promise<Value>,
): Promise<Value> {
  const { promise: timeout, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`${what} took longer than ${ms} ms`)), ms);
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
