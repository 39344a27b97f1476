/** Returns item ids that are served without faults. */
export function plainIds(count: number, first = 30_000_000_000): number[] {
  return Array.from(
    { length: count },
    (_, at) => first + Math.floor(at / 700) * 1_000 + (at % 700),
  );
}
