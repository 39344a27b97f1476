import { Card, Group, Stack, Text } from '@mantine/core';
import type { ListColumn, ListContent } from './list-content.ts';
import { SelectAllCheckbox, SelectionCheckbox } from './SelectionCheckbox.tsx';

/** Renders a list as cards, for narrow screens. */
export function Cards<T>({ label, columns, rows, keyOf, selection, below, brief }: ListContent<T>) {
  return (
    <Stack gap="xs" component="ul" aria-label={label} m={0} p={0} style={{ listStyle: 'none' }}>
      {selection && (
        <li>
          <SelectAllCheckbox selection={selection} keys={rows.map(keyOf)} label="Select all" />
        </li>
      )}
      {rows.map((row) => {
        const key = keyOf(row);
        return (
          <Card component="li" key={key} withBorder radius="md" p={brief ? 'xs' : 'sm'}>
            <Stack gap={6}>
              {selection && <SelectionCheckbox selection={selection} row={row} rowKey={key} showLabel />}
              {brief?.(row)}
              {shownCells(brief ? [] : columns, row).map(({ title, content }) => (
                <Group key={title} justify="space-between" wrap="nowrap" align="flex-start" gap="md">
                  {title !== 'Actions' && (
                    <Text size="xs" c="dimmed" style={{ flex: '0 0 auto' }}>
                      {title}
                    </Text>
                  )}
                  <Text component="div" size="sm" ta="right" miw={0} style={{ overflowWrap: 'anywhere' }}>
                    {content}
                  </Text>
                </Group>
              ))}
              {below?.(row)}
            </Stack>
          </Card>
        );
      })}
    </Stack>
  );
}

const empty: readonly unknown[] = [null, undefined, '', '–'];

/** Returns the cells of a row that have a content. */
const shownCells = <T,>(columns: readonly ListColumn<T>[], row: T) =>
  columns
    .map(({ title, cell }) => ({ title, content: cell(row) }))
    .filter(({ content }) => !empty.includes(content));
