/** Pseudo-random values that depend on a seed only. */
export interface Random {
  /** Returns a number from 0 (inclusive) to 1 (exclusive). */
  next(): number;
  /** Returns an integer from `min` to `max`, both inclusive. */
  integer(min: number, max: number): number;
  pick<T>(values: readonly T[]): T;
  /** Returns true with a probability of 1 in `of`. */
  once(of: number): boolean;
  /** Returns lower-case letters and digits. */
  text(length: number): string;
}

/** Returns the 32-bit FNV-1a hash of a text. */
export function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  return value >>> 0;
}

const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';

/** Creates a generator from a seed text. */
export function random(seed: string): Random {
  let state = hash(seed);
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
  const integer = (min: number, max: number) => min + Math.floor(next() * (max - min + 1));
  return {
    next,
    integer,
    pick: (values) => values[integer(0, values.length - 1)]!,
    once: (of) => integer(1, of) === 1,
    text: (length) => {
      let text = '';
      for (let index = 0; index < length; index += 1)
        text += letters[integer(0, letters.length - 1)];
      return text;
    },
  };
}
