import {
  ActionIcon,
  Group,
  NativeSelect,
  Pill,
  SegmentedControl,
  TextInput,
  VisuallyHidden,
} from '@mantine/core';
import { IconPlus, IconSearch } from '@tabler/icons-react';
import { type FormEvent, useState } from 'react';
import type { RecordFilter } from './query.ts';

/** Columns that conditions can name in every kind. */
const commonColumns = [
  { value: 'item.title', label: 'Title' },
  { value: 'item.price', label: 'Price' },
  { value: 'item.stock', label: 'Stock' },
  { value: 'item.sold', label: 'Sold' },
  { value: 'item.rating', label: 'Rating' },
  { value: 'unit_key', label: 'Unit' },
  { value: 'unit_region', label: 'Region' },
];

const operators = [
  { value: '~', label: 'contains' },
  { value: '=', label: '=' },
  { value: '!=', label: '≠' },
  { value: '>=', label: '≥' },
  { value: '<=', label: '≤' },
];

const statuses = [
  { value: '', label: 'All' },
  { value: 'SUCCESS', label: 'Records' },
  { value: 'FAILED', label: 'Failed' },
];

interface FilterBarProps {
  filter: RecordFilter;
  change: (part: Partial<RecordFilter>) => void;
  /** Fields of the table in addition to the common columns. */
  fields: readonly string[];
}

/** Search, status, and conditions of the records. */
export function FilterBar({ filter, change, fields }: FilterBarProps) {
  const remove = (condition: string) =>
    change({ conditions: filter.conditions.filter((each) => each !== condition) });
  return (
    <Group align="flex-end" gap="sm" role="search" aria-label="Records">
      <TextInput
        label="Search"
        placeholder="Any text"
        leftSection={<IconSearch size={16} aria-hidden />}
        value={filter.search}
        maxLength={200}
        onChange={(event) => change({ search: event.currentTarget.value })}
      />
      <SegmentedControl
        aria-label="Filter by outcome"
        value={filter.status}
        data={statuses}
        onChange={(status) => change({ status: status as RecordFilter['status'] })}
      />
      <ConditionForm
        fields={fields}
        add={(condition) =>
          change({ conditions: [...new Set([...filter.conditions, condition])].slice(0, 10) })
        }
      />
      {filter.conditions.length > 0 && (
        <Pill.Group>
          {filter.conditions.map((condition) => (
            <Pill
              key={condition}
              withRemoveButton
              onRemove={() => remove(condition)}
              removeButtonProps={{ 'aria-label': `Remove ${condition}`, tabIndex: 0, 'aria-hidden': false }}
            >
              {condition}
            </Pill>
          ))}
        </Pill.Group>
      )}
    </Group>
  );
}

/** Fields by which a condition is added. */
function ConditionForm({ fields, add }: { fields: readonly string[]; add: (condition: string) => void }) {
  const [column, setColumn] = useState('item.price');
  const [operator, setOperator] = useState('>=');
  const [value, setValue] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    add(`${column}${operator}${value.trim()}`);
    setValue('');
  };
  return (
    <form onSubmit={submit}>
      <Group align="flex-end" gap="xs">
        <NativeSelect
          label="Column"
          value={column}
          onChange={(event) => setColumn(event.currentTarget.value)}
          data={[...commonColumns, ...fields.map((name) => ({ value: name, label: name }))]}
        />
        <NativeSelect
          label="Condition"
          value={operator}
          onChange={(event) => setOperator(event.currentTarget.value)}
          data={operators}
        />
        <TextInput
          label="Value"
          w={120}
          value={value}
          maxLength={100}
          onChange={(event) => setValue(event.currentTarget.value)}
        />
        <ActionIcon type="submit" variant="default" size="input-sm" aria-label="Add filter">
          <IconPlus size={16} aria-hidden />
          <VisuallyHidden>Add filter</VisuallyHidden>
        </ActionIcon>
      </Group>
    </form>
  );
}
