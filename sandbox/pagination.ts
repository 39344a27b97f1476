import { hash } from './random.ts';

/**
 * Returns the number of products in a listing, by the last three digits of its name (README.md).
 */
export function sizeOf(name: string, rows: number): number {
  switch (name.slice(-3)) {
    case '700':
      return 0;
    case '701':
      return 1;
    case '702':
      return rows;
    case '703':
    case '710':
      return 1_000_000;
    default:
      return rows + (hash(name) % (rows * 3));
  }
}

/**
 * Products that were inserted at the front since the first page of a shifting listing was
 * requested.
 */
export function shiftOf(name: string, start: number, rows: number): number {
  return name.endsWith('705') ? Math.floor(start / rows) * 7 : 0;
}

/** Returns the stated number of products when the page at `start` is requested. */
export function totalAt(name: string, start: number, rows: number): number {
  return sizeOf(name, rows) + shiftOf(name, start, rows);
}

/** Returns the indexes of the products on the page at `start`. */
export function windowOf(name: string, start: number, rows: number): number[] {
  const first = name.endsWith('704') ? 0 : start - shiftOf(name, start, rows);
  const end = Math.min(first + rows, sizeOf(name, rows));
  return Array.from({ length: Math.max(0, end - first) }, (_, at) => first + at);
}

/** Returns the products of a listing after reading it, without duplicates. */
export function allOf(name: string, rows: number): number {
  return name.slice(-3) === '704' ? Math.min(rows, sizeOf(name, rows)) : sizeOf(name, rows);
}
