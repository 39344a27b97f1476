import { Button, Group, NativeSelect, TextInput } from '@mantine/core';
import { IconSearch, IconX } from '@tabler/icons-react';
import { kinds, kindText, markets, marketText } from '../offers/offers.ts';
import { statuses, statusText } from './status.ts';
import { type JobFilter, noFilter } from './useJobs.ts';

interface JobFiltersProps {
  filter: JobFilter;
  change: (filter: JobFilter) => void;
  /** Whether jobs can be searched for: by id, or by their owner. */
  search: boolean;
}

const all = (label: string, values: readonly string[], text: (value: string) => string) => [
  { value: '', label },
  ...values.map((value) => ({ value, label: text(value) })),
];

/** Chooses which jobs are shown. */
export function JobFilters({ filter, change, search }: JobFiltersProps) {
  const set = (part: Partial<JobFilter>) => change({ ...filter, ...part });
  const active = Object.values(filter).some((value) => value !== '');
  return (
    <Group align="flex-end" gap="sm" role="search" aria-label="Jobs">
      {search && (
        <TextInput
          label="Search"
          placeholder="Job or task id, user"
          leftSection={<IconSearch size={16} aria-hidden />}
          value={filter.search}
          onChange={(event) => set({ search: event.currentTarget.value })}
        />
      )}
      <NativeSelect
        label="Status"
        value={filter.status}
        onChange={(event) => set({ status: event.currentTarget.value })}
        data={all('Any status', statuses, statusText)}
      />
      <NativeSelect
        label="Kind"
        value={filter.kind}
        onChange={(event) => set({ kind: event.currentTarget.value })}
        data={all('Any kind', kinds, kindText)}
      />
      <NativeSelect
        label="Marketplace"
        value={filter.market}
        onChange={(event) => set({ market: event.currentTarget.value })}
        data={all('Any marketplace', markets, marketText)}
      />
      {active && (
        <Button
          variant="subtle"
          leftSection={<IconX size={16} aria-hidden />}
          onClick={() => change(noFilter)}
        >
          Show all
        </Button>
      )}
    </Group>
  );
}
