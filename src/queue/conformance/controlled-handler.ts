import type { BatchReference } from '../../store/batches.ts';

/** A delivery that the test resolves or rejects. */
export interface HeldDelivery {
  message: BatchReference;
  extend(): void;
  resolve(): void;
  reject(error: Error): void;
}

/** A message handler whose deliveries are resolved or rejected by the test. */
export interface ControlledHandler {
  handle(message: BatchReference, extend: () => void): Promise<void>;
  /** Resolves with the next delivery. */
  next(): Promise<HeldDelivery>;
  /** Returns the number of deliveries not yet returned by next(). */
  unclaimed(): number;
  /** Returns the number of deliveries in progress. */
  running(): number;
  /** Returns the highest number of concurrent deliveries. */
  peak(): number;
}

/** Creates a controlled handler, which several consumers may share. */
export function controlledHandler(): ControlledHandler {
  const arrived: HeldDelivery[] = [];
  const waiting: ((run: HeldDelivery) => void)[] = [];
  let running = 0;
  let peak = 0;
  return {
    async handle(message, extend) {
      running += 1;
      peak = Math.max(peak, running);
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const run = { message, extend, resolve, reject };
      const claim = waiting.shift();
      if (claim) claim(run);
      else arrived.push(run);
      try {
        await promise;
      } finally {
        running -= 1;
      }
    },
    next: () =>
      new Promise((resolve) => {
        const run = arrived.shift();
        if (run) resolve(run);
        else waiting.push(resolve);
      }),
    unclaimed: () => arrived.length,
    running: () => running,
    peak: () => peak,
  };
}
