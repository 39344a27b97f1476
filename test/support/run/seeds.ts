/** Largest seed. All searches accept seeds from 1 to this one. */
export const maxSeed = 99_999_999;

const firstSeeds = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

/**
 * Seeds of each search that the tests run. To repeat a defect that `npm run explore` found, add its
 * seed to the list of its search, with a comment that says what the seed found.
 */
export const fixedSeeds = {
  /** Orders of events, and faults, of the core on SQLite (test/simulation). */
  simulation: [
    ...firstSeeds(10),
    // The first one in which a frozen process writes after its claim expired.
    41,
  ],
  /** The same on MongoDB. These two take every rare path. */
  'simulation-mongo': [10, 41],
  /** Inputs of the property tests (test/support/run/properties.ts). */
  properties: [1],
  /** Pages with several random changes (src/markets/mutated-pages.test.ts). */
  pages: [
    1,
    // A product of marketplace B without an id was a record whose id was null.
    40062875,
  ],
  /** Jobs of a user on a store that changes (test/oracle). */
  oracle: [
    1,
    // Discards a held job, whose items a later job reads. The oracle had released it.
    82512294,
  ],
  /** Faults of real processes (test/chaos), by stack. */
  'chaos-embedded': [1],
  'chaos-distributed': [1],
  'chaos-cluster': [1],
  /** Requests that Schemathesis generates from the OpenAPI document. */
  schemathesis: [
    // A blank text that identifies an item was valid by the document, and refused.
    67110870,
  ],
} satisfies Record<string, readonly number[]>;

/** Name of a search, as `npm run explore` prints it. */
export type SearchName = keyof typeof fixedSeeds;

/**
 * Parses a seed. Throws an Error that starts with `name`, the option or variable that it comes
 * from.
 */
export function parseSeed(name: string, text: string): number {
  const seed = /^\d{1,8}$/.test(text) ? Number(text) : 0;
  if (seed === 0) throw new Error(`${name}: "${text}" is not an integer from 1 to ${maxSeed}`);
  return seed;
}

const { GLEANER_TEST_SEED: replacement = '' } = process.env;

/** True if GLEANER_TEST_SEED replaces the seeds of every search. */
export const isSeedReplaced = replacement !== '';

/** Returns the seeds of a search: GLEANER_TEST_SEED if it is set, otherwise the fixed ones. */
export function seedsOf(search: SearchName): readonly number[] {
  return isSeedReplaced ? [parseSeed('GLEANER_TEST_SEED', replacement)] : fixedSeeds[search];
}

/** Returns the command that repeats test files with one seed. */
export const formatSeedCommand = (seed: number, files: readonly string[]): string =>
  `GLEANER_TEST_SEED=${seed} npx vitest run ${files.join(' ')}`;
