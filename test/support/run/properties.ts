import { relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { expect } from 'vitest';
import { formatSeedCommand, seedsOf } from './seeds.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/**
 * Checks a property of fast-check with each seed of `properties` (seeds.ts). `runs` is the number
 * of inputs per seed. A failure ends with the command that repeats it.
 */
export function checkProperty<T>(property: fc.IProperty<T>, runs = 100): void {
  for (const seed of seedsOf('properties')) {
    try {
      fc.assert(property, { seed, numRuns: runs });
    } catch (error) {
      const file = relative(root, expect.getState().testPath ?? '').replaceAll(sep, '/');
      const command = formatSeedCommand(seed, [file]);
      throw new Error(`${(error as Error).message}\n\nTo repeat it: ${command}`, { cause: error });
    }
  }
}
