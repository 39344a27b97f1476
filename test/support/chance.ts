import { type Random, random } from '../../sandbox/random.ts';

/** Chance with a seed that is told, so that a failure can be had again. */
export interface Chance extends Random {
  seed: string;
}

/** Draws from GLEANER_TEST_SEED where it is set, else from a new seed. */
export function chance(): Chance {
  const seed = process.env.GLEANER_TEST_SEED || String(Date.now() % 1_000_000);
  return { seed, ...random(seed) };
}
