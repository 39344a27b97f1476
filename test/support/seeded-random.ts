import { type Random, random } from '../../sandbox/random.ts';

/** Random numbers with a seed to print, so that a failure can be reproduced. */
export interface SeededRandom extends Random {
  seed: string;
}

/** Creates random numbers seeded with GLEANER_TEST_SEED if it is set, otherwise with a new seed. */
export function createSeededRandom(): SeededRandom {
  const seed = process.env.GLEANER_TEST_SEED || String(Date.now() % 1_000_000);
  return { seed, ...random(seed) };
}
