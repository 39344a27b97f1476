import { Fault } from '../../contract/fault.ts';

/**
 * Maximum steps of the readers of one page: elements visited, tests of them, and blocks of text. A
 * large real page takes 3 million; this many take about a second.
 */
const maxPageSteps = 20_000_000;

/** Characters per step: of a text that is read, and of one that is only searched. */
const readPerStep = 8;
const searchedPerStep = 64;

/** Steps per character of a price or of a text about stock, which are at most this long. */
const parsedSteps = 100;
const maxParsed = 200;
/** A number, a code, or an address, which take no time. */
const plainValue = /^[\w:/.#-]{0,60}$/;

/** Counter of the steps of the readers of one page, which bounds their processor time. */
export interface PageWork {
  /** Steps so far. */
  readonly steps: number;
  /** Counts steps. Throws `page_too_complex` above the maximum. */
  add(steps: number): void;
  /** Counts the steps of reading the characters of a text one by one. */
  addRead(length: number): void;
  /** Counts the steps of searching a text. */
  addSearch(length: number): void;
  /** Counts the steps of reading what a price or a text about stock means. */
  addParsed(text: string): void;
}

/** Creates a counter for one page. */
export function createPageWork(maxSteps = maxPageSteps): PageWork {
  let total = 0;
  const add = (steps: number) => {
    total += steps;
    if (total > maxSteps)
      throw new Fault('page_too_complex', `reading the page takes more than ${maxSteps} steps`);
  };
  return {
    get steps() {
      return total;
    },
    add,
    addRead: (length) => add(1 + Math.floor(length / readPerStep)),
    addSearch: (length) => add(1 + Math.floor(length / searchedPerStep)),
    addParsed: (text) => {
      const isParsed = text.length <= maxParsed && !plainValue.test(text);
      add(isParsed ? text.length * parsedSteps : 1);
    },
  };
}
