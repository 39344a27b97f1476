import { describe, expect, test } from 'vitest';
import { nextSort, sortRows } from './list-content.ts';

test('nextSort() sorts up, then down, then not at all', () => {
  const up = nextSort(null, 'Name');
  expect(up).toEqual({ title: 'Name', descending: false });
  const down = nextSort(up, 'Name');
  expect(down).toEqual({ title: 'Name', descending: true });
  expect(nextSort(down, 'Name')).toBeNull();
  expect(nextSort(down, 'Balance')).toEqual({ title: 'Balance', descending: false });
});

describe('sortRows()', () => {
  const rows = [
    { name: 'b', balance: 3n },
    { name: 'a', balance: 20n },
    { name: 'c', balance: undefined },
  ];
  const columns = [
    { title: 'Name', sortBy: ({ name }: (typeof rows)[number]) => name },
    { title: 'Balance', sortBy: ({ balance }: (typeof rows)[number]) => balance },
    { title: 'Actions' },
  ];
  const names = (title: string, descending: boolean) =>
    sortRows(rows, columns, { title, descending })
      .map(({ name }) => name)
      .join('');

  test.each([
    ['Name', false, 'abc'],
    ['Name', true, 'cba'],
    ['Balance', false, 'bac'],
    ['Balance', true, 'abc'],
    ['Actions', false, 'bac'],
  ])('sorts by %s, descending %s', (title, descending, expected) => {
    expect(names(title, descending)).toBe(expected);
  });
});
