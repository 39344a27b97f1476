/** Draws that are the same for the same seed. */
export interface Random {
  /** A number from 0 up to, not including, 1. */
  next(): number;
  /** An integer from `least` to `most`, both included. */
  integer(least: number, most: number): number;
  pick<T>(values: readonly T[]): T;
  /** True once in `of` draws. */
  once(of: number): boolean;
  /** Lower-case letters and digits. */
  text(length: number): string;
}

/** A 32-bit number made of a text (FNV-1a). */
export function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  return value >>> 0;
}

const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** Draws from a seed text. */
export function random(seed: string): Random {
  let state = hash(seed);
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
  const integer = (least: number, most: number) => least + Math.floor(next() * (most - least + 1));
  return {
    next,
    integer,
    pick: (values) => values[integer(0, values.length - 1)]!,
    once: (of) => integer(1, of) === 1,
    text: (length) => {
      let text = '';
      for (let index = 0; index < length; index += 1) text += letters[integer(0, letters.length - 1)];
      return text;
    },
  };
}
