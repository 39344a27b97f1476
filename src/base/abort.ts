/** Listeners of a signal that onAbort() serves with one event listener. */
const listenersOf = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls `listener` when the signal aborts; returns the function that removes it. For signals that many requests wait
 * on: an event listener for each request costs several microseconds and 500 bytes. Ignores signals aborted before.
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
  /** Removes its listeners from the signals that it follows. */
  release(): void;
}

/**
 * Returns a signal that aborts with the first of `sources`, and with its reason. Unlike that of AbortSignal.any() it
 * is a plain signal: a composite one looks at all its sources each time `aborted` is read.
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
