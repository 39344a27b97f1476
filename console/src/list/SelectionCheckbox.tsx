import { Checkbox } from '@mantine/core';
import type { Selection } from './ListTable.tsx';

interface ChoiceProps<T> {
  selection: Selection<T>;
  row: T;
  /** The row's key. */
  name: string;
  /** Says beside the box what is chosen. */
  labelled?: boolean;
}

/** Chooses one row of a list. */
export function Choice<T>({ selection, row, name, labelled = false }: ChoiceProps<T>) {
  const { chosen, choose, nameOf } = selection;
  const pick = (on: boolean) => {
    const next = new Set(chosen);
    if (on) next.add(name);
    else next.delete(name);
    choose(next);
  };
  return (
    <Checkbox
      {...(labelled ? { label: `Choose ${nameOf(row)}` } : { 'aria-label': `Choose ${nameOf(row)}` })}
      checked={chosen.has(name)}
      onChange={(event) => pick(event.currentTarget.checked)}
    />
  );
}

interface ChoiceOfAllProps<T> {
  selection: Selection<T>;
  keys: readonly string[];
  /** Said beside the box, where there is room. */
  label?: string;
}

/** Chooses all rows of a list, or none. */
export function ChoiceOfAll<T>({ selection: { chosen, choose }, keys, label }: ChoiceOfAllProps<T>) {
  const count = keys.filter((key) => chosen.has(key)).length;
  return (
    <Checkbox
      {...(label === undefined ? { 'aria-label': 'Choose all' } : { label })}
      checked={count === keys.length}
      indeterminate={count > 0 && count < keys.length}
      onChange={(event) => choose(new Set(event.currentTarget.checked ? keys : []))}
    />
  );
}
