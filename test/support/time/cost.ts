import { expect } from 'vitest';

/**
 * Returns the processor time that a function takes, in milliseconds: less than the time on a busy
 * machine.
 */
function costOf(run: () => void): number {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** Reads a text one character after the other. */
function read(text: string): number {
  let sum = 0;
  for (let at = 0; at < text.length; at++) sum = (sum + text.charCodeAt(at)) | 0;
  return sum;
}

/**
 * Expects a function to cost at most `times` as much processor time as reading its texts. The time
 * of a function that is not linear exceeds this by far if its texts have megabytes.
 */
export function expectLinear(run: () => void, texts: readonly string[], times = 400): void {
  const cost = costOf(run);
  // Compiles the loop first.
  read('x'.repeat(1_000_000));
  const reference = costOf(() => {
    for (const text of texts) read(text);
  });
  expect(cost, `${reference} ms to read the texts`).toBeLessThan(times * Math.max(reference, 1));
}
