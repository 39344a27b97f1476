import { hash } from './random.ts';

/** How many products a listing of this name has, by its last three digits (README.md). */
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

/** Products that have come in at the front since the first page of a listing that shifts was asked for. */
export function shiftOf(name: string, start: number, rows: number): number {
  return name.endsWith('705') ? Math.floor(start / rows) * 7 : 0;
}

/** How many products a listing counts when it is asked for the page at `start`. */
export function totalAt(name: string, start: number, rows: number): number {
  return sizeOf(name, rows) + shiftOf(name, start, rows);
}

/** The numbers of the products on a page that starts at `start`, counted from 0. */
export function windowOf(name: string, start: number, rows: number): number[] {
  const first = name.endsWith('704') ? 0 : start - shiftOf(name, start, rows);
  const end = Math.min(first + rows, sizeOf(name, rows));
  return Array.from({ length: Math.max(0, end - first) }, (_, at) => first + at);
}

/** The products that a listing of this name holds in the end, each once. */
export function allOf(name: string, rows: number): number {
  return name.slice(-3) === '704' ? Math.min(rows, sizeOf(name, rows)) : sizeOf(name, rows);
}
