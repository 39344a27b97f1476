import type { BatchReference } from '../../store/documents.ts';

/** One delivery, held until the test says what becomes of it. */
export interface Run {
  message: BatchReference;
  extend(): void;
  resolve(): void;
  reject(error: Error): void;
}

/** A handler in the hands of a test: every delivery waits to be resolved or rejected. */
export interface Steered {
  handle(message: BatchReference, extend: () => void): Promise<void>;
  /** The next delivery that no earlier call was given. */
  next(): Promise<Run>;
  /** Deliveries that nobody asked for yet. */
  unasked(): number;
  /** Deliveries under way now, and the most there were at once. */
  running(): number;
  peak(): number;
}

/** Makes a steered handler; several consumers may share it. */
export function steered(): Steered {
  const arrived: Run[] = [];
  const asking: ((run: Run) => void)[] = [];
  let running = 0;
  let peak = 0;
  return {
    async handle(message, extend) {
      running += 1;
      peak = Math.max(peak, running);
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const run = { message, extend, resolve, reject };
      const ask = asking.shift();
      if (ask) ask(run);
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
        else asking.push(resolve);
      }),
    unasked: () => arrived.length,
    running: () => running,
    peak: () => peak,
  };
}
