/** So many ids of items that are served as they are: none of the README's special endings. */
export function plainIds(count: number, first = 30_000_000_000): number[] {
  return Array.from({ length: count }, (_, at) => first + Math.floor(at / 700) * 1_000 + (at % 700));
}
