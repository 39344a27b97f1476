import {
  ActionIcon,
  Group,
  NativeSelect,
  Pill,
  SegmentedControl,
  TextInput,
  VisuallyHidden,
} from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { type FormEvent, type ReactNode, useState } from 'react';
import { FoldedFilters } from '../../ui/list/FoldedFilters.tsx';
import { SearchInput } from '../../ui/list/SearchInput.tsx';
import {
  commonColumns,
  conditionOf,
  conditionText,
  needsValue,
  operators,
  type RecordFilter,
} from './query.ts';

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
  /** Label of the filter for units without a record. */
  failedLabel: string;
  /** Further controls in the line. */
  children: ReactNode;
}

/**
 * Search, status, and conditions of the records in one line. On narrow screens all but the search
 * folds away.
 */
export function FilterBar({ filter, change, fields, failedLabel, children }: FilterBarProps) {
  const set = filter.conditions.length + (filter.status === '' ? 0 : 1);
  return (
    <Group gap="xs" role="search" aria-label="Records">
      <SearchInput
        size="xs"
        style={{ flex: '1 1 110px', maxWidth: 150 }}
        aria-label="Search"
        placeholder="Search"
        search={filter.search}
        change={(search) => change({ search })}
      />
      <FoldedFilters size="xs" set={set}>
        <SegmentedControl
          size="xs"
          aria-label="Filter by outcome"
          value={filter.status}
          data={statuses.map(({ value, label }) => ({
            value,
            label: value === 'FAILED' ? failedLabel : label,
          }))}
          onChange={(status) => change({ status: status as RecordFilter['status'] })}
        />
        <ConditionForm
          fields={fields}
          add={(condition) =>
            change({ conditions: [...new Set([...filter.conditions, condition])].slice(0, 10) })
          }
        />
      </FoldedFilters>
      {children}
      <Conditions conditions={filter.conditions} change={(conditions) => change({ conditions })} />
    </Group>
  );
}

interface ConditionsProps {
  conditions: readonly string[];
  change: (conditions: readonly string[]) => void;
}

/** Conditions that are set, each with a button that removes it. */
function Conditions({ conditions, change }: ConditionsProps) {
  if (conditions.length === 0) return null;
  return (
    <Pill.Group>
      {conditions.map((condition) => (
        <Pill
          key={condition}
          withRemoveButton
          onRemove={() => change(conditions.filter((each) => each !== condition))}
          removeButtonProps={{
            'aria-label': `Remove ${conditionText(condition)}`,
            tabIndex: 0,
            'aria-hidden': false,
          }}
        >
          {conditionText(condition)}
        </Pill>
      ))}
    </Pill.Group>
  );
}

/** Fields by which a condition is added. */
function ConditionForm({
  fields,
  add,
}: {
  fields: readonly string[];
  add: (condition: string) => void;
}) {
  const [column, setColumn] = useState('item.price');
  const [operator, setOperator] = useState('>=');
  const [value, setValue] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    add(conditionOf(column, operator, value));
    setValue('');
  };
  const choices = Object.entries(commonColumns).map(([name, label]) => ({ value: name, label }));
  return (
    <form onSubmit={submit}>
      <Group gap={4} wrap="nowrap">
        <NativeSelect
          size="xs"
          w={100}
          aria-label="Column"
          value={column}
          onChange={(event) => setColumn(event.currentTarget.value)}
          data={[...choices, ...fields.map((name) => ({ value: name, label: name }))]}
        />
        <NativeSelect
          size="xs"
          w={92}
          aria-label="Condition"
          value={operator}
          onChange={(event) => setOperator(event.currentTarget.value)}
          data={Object.entries(operators).map(([sign, label]) => ({ value: sign, label }))}
        />
        <TextInput
          size="xs"
          w={100}
          aria-label="Value"
          placeholder="Value"
          value={value}
          maxLength={100}
          required={needsValue(operator)}
          onChange={(event) => setValue(event.currentTarget.value)}
        />
        <ActionIcon type="submit" variant="default" size={30} aria-label="Add filter">
          <IconPlus size={16} aria-hidden />
          <VisuallyHidden>Add filter</VisuallyHidden>
        </ActionIcon>
      </Group>
    </form>
  );
}
