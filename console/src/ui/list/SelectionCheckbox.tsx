import { Checkbox } from '@mantine/core';
import type { ListSelection } from './list-content.ts';

interface Selection<T> {
  /** Keys of the selected rows. */
  selected: ReadonlySet<string>;
  change: (selected: ReadonlySet<string>) => void;
  /** Returns the name of a row for its checkbox label. */
  labelOf: (row: T) => string;
}

/** Returns the checkboxes that select the rows of a list. */
export function checkboxesOf<T>({ selected, change, labelOf }: Selection<T>): ListSelection<T> {
  const toggle = (key: string, isOn: boolean) => {
    const next = new Set(selected);
    if (isOn) next.add(key);
    else next.delete(key);
    change(next);
  };
  return {
    ofRow: (row, key) => (
      <Checkbox
        aria-label={`Select ${labelOf(row)}`}
        checked={selected.has(key)}
        onChange={(event) => toggle(key, event.currentTarget.checked)}
      />
    ),
    ofAll: (keys, label) => {
      const count = keys.filter((key) => selected.has(key)).length;
      return (
        <Checkbox
          {...(label === undefined ? { 'aria-label': 'Select all' } : { label })}
          checked={count === keys.length}
          indeterminate={count > 0 && count < keys.length}
          onChange={(event) => change(new Set(event.currentTarget.checked ? keys : []))}
        />
      );
    },
  };
}
