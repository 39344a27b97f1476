import { Button, Group, NativeSelect, TextInput } from '@mantine/core';
import { IconSearch, IconX } from '@tabler/icons-react';
import { kinds, kindText, markets, marketText } from '../offers/offers.ts';
import { formatStatus, statuses } from './status.ts';
import { emptyFilter, type JobFilter } from './useJobs.ts';

interface JobFiltersProps {
  filter: JobFilter;
  change: (filter: JobFilter) => void;
  /** Shows the filters for operators: the search for job ids and owners, and the mode. */
  operator: boolean;
}

const options = (label: string, values: readonly string[], text: (value: string) => string) => [
  { value: '', label },
  ...values.map((value) => ({ value, label: text(value) })),
];

/** Filters of the job list. */
export function JobFilters({ filter, change, operator }: JobFiltersProps) {
  const set = (part: Partial<JobFilter>) => change({ ...filter, ...part });
  const active = Object.values(filter).some((value) => value !== '');
  return (
    <Group align="flex-end" gap="sm" role="search" aria-label="Jobs">
      {operator && (
        <TextInput
          label="Search"
          placeholder="Job ID, task ID or user"
          leftSection={<IconSearch size={16} aria-hidden />}
          value={filter.search}
          onChange={(event) => set({ search: event.currentTarget.value })}
        />
      )}
      <NativeSelect
        label="Status"
        value={filter.status}
        onChange={(event) => set({ status: event.currentTarget.value })}
        data={options('Any status', statuses, formatStatus)}
      />
      <NativeSelect
        label="Kind"
        value={filter.kind}
        onChange={(event) => set({ kind: event.currentTarget.value })}
        data={options('Any kind', kinds, kindText)}
      />
      <NativeSelect
        label="Marketplace"
        value={filter.market}
        onChange={(event) => set({ market: event.currentTarget.value })}
        data={options('Any marketplace', markets, marketText)}
      />
      {operator && (
        <NativeSelect
          label="Mode"
          value={filter.mode}
          onChange={(event) => set({ mode: event.currentTarget.value })}
          data={[
            { value: '', label: 'Live' },
            { value: 'test', label: 'Test' },
          ]}
        />
      )}
      {active && (
        <Button
          variant="subtle"
          leftSection={<IconX size={16} aria-hidden />}
          onClick={() => change(emptyFilter)}
        >
          Clear filters
        </Button>
      )}
    </Group>
  );
}
