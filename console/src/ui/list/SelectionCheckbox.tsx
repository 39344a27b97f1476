import { Checkbox } from '@mantine/core';
import type { ListSelection } from './list-content.ts';

interface SelectionCheckboxProps<T> {
  selection: ListSelection<T>;
  row: T;
  rowKey: string;
}

export function SelectionCheckbox<T>({ selection, row, rowKey }: SelectionCheckboxProps<T>) {
  const { selected, onChange, labelOf } = selection;
  const toggle = (on: boolean) => {
    const next = new Set(selected);
    if (on) next.add(rowKey);
    else next.delete(rowKey);
    onChange(next);
  };
  return (
    <Checkbox
      aria-label={`Select ${labelOf(row)}`}
      checked={selected.has(rowKey)}
      onChange={(event) => toggle(event.currentTarget.checked)}
    />
  );
}

interface SelectAllCheckboxProps<T> {
  selection: ListSelection<T>;
  keys: readonly string[];
  /** Visible label; without one, only screen readers get a label. */
  label?: string;
}

/** Checkbox that selects all rows of a list, or none. */
export function SelectAllCheckbox<T>({
  selection: { selected, onChange },
  keys,
  label,
}: SelectAllCheckboxProps<T>) {
  const count = keys.filter((key) => selected.has(key)).length;
  return (
    <Checkbox
      {...(label === undefined ? { 'aria-label': 'Select all' } : { label })}
      checked={count === keys.length}
      indeterminate={count > 0 && count < keys.length}
      onChange={(event) => onChange(new Set(event.currentTarget.checked ? keys : []))}
    />
  );
}
