import classes from './cards.module.css';
import type { ListColumn, ListContent } from './list-content.ts';
import { SelectAllCheckbox, SelectionCheckbox } from './SelectionCheckbox.tsx';

/** Renders a list as cards, for narrow screens. Plain elements: a list may have hundreds of them. */
export function Cards<T>({ label, columns, rows, keyOf, selection, below, brief }: ListContent<T>) {
  return (
    <ul className={classes.cards} aria-label={label}>
      {selection && (
        <li>
          <SelectAllCheckbox selection={selection} keys={rows.map(keyOf)} label="Select all" />
        </li>
      )}
      {rows.map((row) => {
        const key = keyOf(row);
        return (
          <li className={`${classes.card} ${brief ? classes.brief : ''}`} key={key}>
            {selection && <SelectionCheckbox selection={selection} row={row} rowKey={key} showLabel />}
            {brief?.(row)}
            {shownCells(brief ? [] : columns, row).map(({ title, content }) => (
              <div className={classes.value} key={title}>
                {title !== 'Actions' && <small>{title}</small>}
                <div>{content}</div>
              </div>
            ))}
            {below?.(row)}
          </li>
        );
      })}
    </ul>
  );
}

const empty: readonly unknown[] = [null, undefined, '', '–'];

/** Returns the cells of a row that have a content. */
const shownCells = <T,>(columns: readonly ListColumn<T>[], row: T) =>
  columns
    .map(({ title, cell }) => ({ title, content: cell(row) }))
    .filter(({ content }) => !empty.includes(content));
