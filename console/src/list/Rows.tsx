import { Table } from '@mantine/core';
import { Fragment } from 'react';
import type { ListContent } from './list-content.ts';
import { SelectAllCheckbox, SelectionCheckbox } from './SelectionCheckbox.tsx';

/** Renders a list as a table that scrolls horizontally if it does not fit. */
export function Rows<T>({ label, columns, rows, keyOf, minWidth = 640, selection, below }: ListContent<T>) {
  return (
    <Table.ScrollContainer minWidth={minWidth} type="native" tabIndex={0} role="region" aria-label={label}>
      <Table verticalSpacing="xs" striped={below === undefined} aria-label={label}>
        <Table.Thead>
          <Table.Tr>
            {selection && (
              <Table.Th w={40}>
                <SelectAllCheckbox selection={selection} keys={rows.map(keyOf)} />
              </Table.Th>
            )}
            {columns.map(({ title, align }) => (
              <Table.Th key={title} ta={align}>
                {title}
              </Table.Th>
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
                  {columns.map(({ title, cell, align }) => (
                    <Table.Td key={title} ta={align}>
                      {cell(row)}
                    </Table.Td>
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
