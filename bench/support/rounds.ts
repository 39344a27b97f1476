/** A contender of a comparison: one measurement of it per round. */
export type Measure<T> = () => Promise<T>;

/**
 * Measures contenders in turn, A B A B …, so that what else the machine does meets all alike. Two rounds
 * before the first warm them up and are not counted. Gives the measurements of each.
 */
export async function interleave<T>(rounds: number, contenders: readonly Measure<T>[]): Promise<T[][]> {
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

/** The middle value; of an even number, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** The value below which `percent` of 100 values are. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))]!;
}
