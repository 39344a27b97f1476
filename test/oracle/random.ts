/** Random choices that a seed determines. */
export interface Random {
  /** Returns an integer from 0 to below a limit. */
  below(limit: number): number;
  pick<T>(values: readonly T[]): T;
  /** Returns at least `min` of the values, in their order. */
  some<T>(values: readonly T[], min: number): T[];
}

/** Creates the choices of a seed (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    below,
    pick: (values) => values[below(values.length)]!,
    some: (values, min) => {
      const size = min + below(values.length - min + 1);
      const chosen = new Set<number>();
      while (chosen.size < size) chosen.add(below(values.length));
      return values.filter((_, index) => chosen.has(index));
    },
  };
}
