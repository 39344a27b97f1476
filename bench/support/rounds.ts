/** A contender of a comparison, measured once per round. */
export type Measure<T> = () => Promise<T>;

/**
 * Measures contenders alternately (A B A B …), so that other load on the machine affects all of
 * them equally. Two warm-up rounds are not counted. Returns the measurements of each contender.
 */
export async function interleave<T>(
  rounds: number,
  contenders: readonly Measure<T>[],
): Promise<T[][]> {
  const results: T[][] = contenders.map(() => []);
  for (let round = -warmUps; round < rounds; round++) {
    for (const [index, measure] of contenders.entries()) {
      const result = await measure();
      if (round >= 0) results[index]!.push(result);
    }
  }
  return results;
}

const warmUps = 2;

/** Returns the median. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Returns a percentile. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))]!;
}
