import classes from './cards.module.css';
import { isEmpty, type ListColumn, type ListContent } from './list-content.ts';

/**
 * Renders a list as cards, for narrow screens: the first column of text is the title of a card.
 * Plain elements: a list may have hundreds of them.
 */
export function Cards<T>({ label, columns, rows, keyOf, selection, below, brief }: ListContent<T>) {
  const title = columns.find(({ align }) => align !== 'right');
  const actions = columns.find(
    (column) => column.title === 'Actions' || column.title === 'Download',
  );
  const values = columns.filter((column) => column !== title && column !== actions);
  return (
    <ul className={classes.cards} aria-label={label}>
      {selection && <li>{selection.ofAll(rows.map(keyOf), 'Select all')}</li>}
      {rows.map((row) => (
        <li className={classes.card} key={keyOf(row)}>
          {brief ? (
            brief(row)
          ) : (
            <>
              <div className={classes.title}>
                {selection?.ofRow(row, keyOf(row))}
                <div>{title?.cell(row)}</div>
              </div>
              <dl className={classes.values}>
                {shownCells(values, row).map(({ title, content }) => (
                  <div key={title}>
                    <dt>{title}</dt>
                    <dd>{content}</dd>
                  </div>
                ))}
              </dl>
              {actions?.cell(row)}
            </>
          )}
          {below?.(row)}
        </li>
      ))}
    </ul>
  );
}

/** Returns the cells of a row that have a content. */
const shownCells = <T,>(columns: readonly ListColumn<T>[], row: T) =>
  columns
    .map(({ title, cell }) => ({ title, content: cell(row) }))
    .filter(({ content }) => !isEmpty(content));
