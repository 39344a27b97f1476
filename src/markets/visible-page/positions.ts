/** Positions of an element and of its last descendant in document order. */
export interface ElementRange {
  start: number;
  end: number;
}

/** Returns the index of the first item at or after a position, by bisection. */
export function firstFrom(items: readonly { at: number }[], start: number): number {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (items[middle]!.at < start) low = middle + 1;
    else high = middle;
  }
  return low;
}
