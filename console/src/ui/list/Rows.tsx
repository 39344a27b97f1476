import { Table, UnstyledButton } from '@mantine/core';
import { IconArrowDown, IconArrowsSort, IconArrowUp } from '@tabler/icons-react';
import { Fragment } from 'react';
import { isEmpty, type ListColumn, type SortedContent } from './list-content.ts';
import { SelectAllCheckbox, SelectionCheckbox } from './SelectionCheckbox.tsx';

/**
 * Renders a list as a table that scrolls horizontally if it does not fit, without columns that are
 * empty.
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
    <Table.ScrollContainer
      minWidth={minWidth}
      type="native"
      tabIndex={0}
      role="region"
      aria-label={label}
    >
      <Table
        tabularNums
        verticalSpacing={dense ? 1 : 4}
        striped={below === undefined}
        aria-label={label}
      >
        <Table.Thead>
          <Table.Tr>
            {selection && (
              <Table.Th w={40}>
                <SelectAllCheckbox selection={selection} keys={rows.map(keyOf)} />
              </Table.Th>
            )}
            {columns.map((column) => (
              <HeaderCell key={column.title} column={column} sort={sort} toggleSort={toggleSort} />
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => {
            const key = keyOf(row);
            const detail = below?.(row);
            return (
              <Fragment key={key}>
                <Table.Tr>
                  {selection && (
                    <Table.Td>
                      <SelectionCheckbox selection={selection} row={row} rowKey={key} />
                    </Table.Td>
                  )}
                  {columns.map((column) => (
                    <Cell key={column.title} column={column} row={row} dense={dense} />
                  ))}
                </Table.Tr>
                {detail ? (
                  <Table.Tr>
                    <Table.Td colSpan={columns.length + (selection ? 1 : 0)}>{detail}</Table.Td>
                  </Table.Tr>
                ) : null}
              </Fragment>
            );
          })}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
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
  const line = {
    maxWidth,
    whiteSpace: 'nowrap',
    overflow: 'hidden',
    textOverflow: 'ellipsis',
  } as const;
  return (
    <Table.Td
      ta={align}
      {...(dense ? { style: line, title: typeof content === 'string' ? content : undefined } : {})}
    >
      {content}
    </Table.Td>
  );
}

type HeaderCellProps<T> = { column: ListColumn<T> } & Pick<SortedContent<T>, 'sort' | 'toggleSort'>;

/** Title of a column; a button if the column can be sorted. */
function HeaderCell<T>({ column: { title, align, sortBy }, sort, toggleSort }: HeaderCellProps<T>) {
  if (!sortBy)
    return (
      <Table.Th ta={align} style={{ whiteSpace: 'nowrap' }}>
        {title}
      </Table.Th>
    );
  const direction = sort?.descending ? 'descending' : 'ascending';
  const order = sort?.title === title ? direction : 'none';
  const Icon = { none: IconArrowsSort, ascending: IconArrowUp, descending: IconArrowDown }[order];
  return (
    <Table.Th ta={align} aria-sort={order} style={{ whiteSpace: 'nowrap' }}>
      <UnstyledButton fz="inherit" fw="inherit" onClick={() => toggleSort(title)}>
        {title}{' '}
        <Icon
          size={13}
          aria-hidden
          style={{ verticalAlign: '-2px', opacity: order === 'none' ? 0.5 : 1 }}
        />
      </UnstyledButton>
    </Table.Th>
  );
}
