import { UnstyledButton } from '@mantine/core';
import { IconArrowDown, IconArrowsSort, IconArrowUp } from '@tabler/icons-react';
import { Fragment } from 'react';
import { isEmpty, type ListColumn, type SortedContent } from './list-content.ts';
import classes from './rows.module.css';

/**
 * Renders a list as a table that scrolls horizontally if it does not fit, without columns that are
 * empty. Plain elements: a list may have hundreds of rows.
 */
export function Rows<T>({
  label,
  columns: all,
  rows,
  keyOf,
  minWidth = 640,
  dense = false,
  selection,
  below,
  sort,
  toggleSort,
}: SortedContent<T>) {
  const columns = all.filter(({ cell }) => rows.some((row) => !isEmpty(cell(row))));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it.
    <section className={classes.scroll} tabIndex={0} aria-label={label}>
      <table
        className={classes.table}
        style={{ minWidth }}
        data-dense={dense || undefined}
        data-striped={below === undefined || undefined}
        aria-label={label}
      >
        <thead>
          <tr>
            {selection && <th style={{ width: 40 }}>{selection.ofAll(rows.map(keyOf))}</th>}
            {columns.map((column) => (
              <HeaderCell key={column.title} column={column} sort={sort} toggleSort={toggleSort} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const key = keyOf(row);
            const detail = below?.(row);
            return (
              <Fragment key={key}>
                <tr>
                  {selection && <td>{selection.ofRow(row, key)}</td>}
                  {columns.map((column) => (
                    <Cell key={column.title} column={column} row={row} dense={dense} />
                  ))}
                </tr>
                {detail ? (
                  <tr>
                    <td colSpan={columns.length + (selection ? 1 : 0)}>{detail}</td>
                  </tr>
                ) : null}
              </Fragment>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}

/** Value of a row in a column. A dense cell has one line, with the whole text as its tooltip. */
function Cell<T>({
  column: { cell, align, maxWidth },
  row,
  dense,
}: {
  column: ListColumn<T>;
  row: T;
  dense: boolean;
}) {
  const content = cell(row);
  return (
    <td
      style={{ textAlign: align, maxWidth: dense ? maxWidth : undefined }}
      title={dense && typeof content === 'string' ? content : undefined}
    >
      {content}
    </td>
  );
}

type HeaderCellProps<T> = { column: ListColumn<T> } & Pick<SortedContent<T>, 'sort' | 'toggleSort'>;

/** Title of a column; a button if the column can be sorted. */
function HeaderCell<T>({ column: { title, align, sortBy }, sort, toggleSort }: HeaderCellProps<T>) {
  if (!sortBy)
    return (
      <th scope="col" style={{ textAlign: align }}>
        {title}
      </th>
    );
  const direction = sort?.descending ? 'descending' : 'ascending';
  const order = sort?.title === title ? direction : 'none';
  const Icon = { none: IconArrowsSort, ascending: IconArrowUp, descending: IconArrowDown }[order];
  return (
    <th scope="col" style={{ textAlign: align }} aria-sort={order}>
      <UnstyledButton fz="inherit" fw="inherit" onClick={() => toggleSort(title)}>
        {title}{' '}
        <Icon
          size={13}
          aria-hidden
          style={{ verticalAlign: '-2px', opacity: order === 'none' ? 0.5 : 1 }}
        />
      </UnstyledButton>
    </th>
  );
}
