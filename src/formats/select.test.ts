import { describe, expect, test } from 'vitest';
import type { Cell } from './cells.ts';
import { type Column, createColumns } from './columns.ts';
import { parseSelection, type SelectionText, type SortKey } from './select.ts';

const columns = createColumns({
  title: 'string?',
  'price.amount': 'number?',
  sold: 'integer?',
  new: 'boolean?',
  images: 'array',
});
const parse = (text: Partial<SelectionText>) =>
  parseSelection({ filter: [], search: '', sort: '', ...text }, columns);
const rows: Cell[][] = [
  ['Bicycle Bell', 12.5, 3, true, '[]'],
  ['Lamp', 100, 9007199254740993n, false, '["bell"]'],
  ['', null, null, null, null],
];

/** Returns the cells of a row in some columns. */
const cellsOf = (index: number, used: readonly Column[]) =>
  used.map((column) => rows[index]![columns.indexOf(column)]!);

/** Returns the indexes of the selected rows. */
const selected = (text: Partial<SelectionText>) => {
  const { matches, used } = parse(text);
  return [...rows.keys()].filter((index) => matches(cellsOf(index, used)));
};

describe('parseSelection()', () => {
  test.each<[string[], number[]]>([
    [[], [0, 1, 2]],
    [['price.amount>12.5'], [1]],
    [['price.amount>=12.5'], [0, 1]],
    [['price.amount> +1.25e1 '], [1]],
    [['price.amount>.5', 'sold<4.'], [0]],
    [['price.amount<100', 'sold=3'], [0]],
    [['sold=9007199254740993'], [1]],
    [['sold=9007199254740992'], []],
    [['sold!=9007199254740992'], [0, 1]],
    [['sold>9007199254740992'], [1]],
    [['sold<9007199254740994', 'sold>3'], [1]],
    [['sold=99999999999999999999'], []],
    [['title=lamp'], [1]],
    [['title!=lamp'], [0, 2]],
    [['title~BELL'], [0]],
    [['title='], [2]],
    [['title!='], [0, 1]],
    [['price.amount='], [2]],
    [['new=true'], [0]],
    [[' title = bicycle bell '], [0]],
    [['title~=;'], []],
  ])('filters by %j', (filter, expected) => {
    expect(selected({ filter })).toEqual(expected);
  });

  test('searches the text of string columns in any case, and not that of lists', () => {
    expect(selected({ search: ' bell ' })).toEqual([0]);
    expect(selected({ search: 'lamp', filter: ['new=true'] })).toEqual([]);
  });

  test('selects failed units by their texts, unless there is a condition on a column', () => {
    const texts = ['shop/1', 'The page is gone.'];
    expect(parse({ search: 'GONE' }).matchesTexts(texts)).toBe(true);
    expect(parse({ search: 'lamp' }).matchesTexts(texts)).toBe(false);
    expect(parse({ filter: ['title='] }).matchesTexts(texts)).toBe(false);
  });

  test.each<[string, SortKey[]]>([
    ['price.amount', [12.5, 100, null]],
    ['-price.amount', [100, 12.5, null]],
    ['-title', ['lamp', 'bicycle bell', null]],
  ])('sorts by %s, with missing values last', (sort, expected) => {
    const { keyOf, compare, used } = parse({ sort });
    const keys = [...rows.keys()].map((index) => keyOf!(cellsOf(index, used)));
    expect(keys.toSorted(compare)).toEqual(expected);
  });

  test.each<[Partial<SelectionText>, (string | number)[], string]>([
    [{ filter: ['title=x', 'price'] }, ['body', 'filter', 1], 'an operator'],
    [{ filter: ['images=x'] }, ['body', 'filter', 0], "'title'"],
    [{ filter: ['constructor=x'] }, ['body', 'filter', 0], '"constructor"'],
    [{ filter: ['sold>many'] }, ['body', 'filter', 0], 'sold is a number; "many" is not'],
    [{ filter: ['sold>= '] }, ['body', 'filter', 0], 'sold is a number; " " is not'],
    [{ filter: ['sold=0x3'] }, ['body', 'filter', 0], 'sold is a number; "0x3" is not'],
    [{ sort: '-images' }, ['body', 'sort'], '"images"'],
  ])('rejects %j and names the place', (text, loc, words) => {
    let thrown: unknown;
    try {
      parse(text);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ problems: [{ loc, msg: expect.stringContaining(words) }] });
  });
});
