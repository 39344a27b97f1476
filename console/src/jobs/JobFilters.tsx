import { Button, Group, NativeSelect } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { useState } from 'react';
import { jobKinds, marketTitles } from '../../../gen/job-names.ts';
import { jobStatuses } from '../../../src/contract/job-status.ts';
import { kindText, marketTitle } from '../../../src/present/names.ts';
import { formatStatus } from '../../../src/present/status.ts';
import { emptyFilter, type JobListFilter } from '../ui/jobs/useJobs.ts';
import { FoldedFilters } from '../ui/list/FoldedFilters.tsx';
import { SearchInput } from '../ui/list/SearchInput.tsx';

interface JobFiltersProps {
  filter: JobListFilter;
  change: (filter: JobListFilter) => void;
  /** Searches for owners instead of names, and shows the filter by mode. */
  operator: boolean;
}

const options = (label: string, values: readonly string[], text: (value: string) => string) => [
  { value: '', label },
  ...values.map((value) => ({ value, label: text(value) })),
];

export function JobFilters({ filter, change, operator }: JobFiltersProps) {
  const set = (part: Partial<JobListFilter>) => change({ ...filter, ...part });
  const [clears, setClears] = useState(0);
  const active = Object.values(filter).some((value) => value !== '');
  const { search: _, ...selections } = filter;
  return (
    <Group align="flex-end" gap="sm" role="search" aria-label="Jobs">
      <SearchInput
        key={clears}
        label="Search"
        flex="1 1 200px"
        maw={{ sm: 280 }}
        placeholder={operator ? 'Job ID, task ID or user' : 'Name, job ID or task ID'}
        search={filter.search}
        change={(search) => set({ search })}
      />
      <FoldedFilters set={Object.values(selections).filter((value) => value !== '').length}>
        <NativeSelect
          label="Status"
          value={filter.status}
          onChange={(event) => set({ status: event.currentTarget.value })}
          data={options('Any status', jobStatuses, formatStatus)}
        />
        <NativeSelect
          label="Kind"
          value={filter.kind}
          onChange={(event) => set({ kind: event.currentTarget.value })}
          data={options('Any kind', jobKinds, kindText)}
        />
        <NativeSelect
          label="Marketplace"
          value={filter.market}
          onChange={(event) => set({ market: event.currentTarget.value })}
          data={options('Any marketplace', Object.keys(marketTitles), marketTitle)}
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
      </FoldedFilters>
      {active && (
        <Button
          variant="subtle"
          leftSection={<IconX size={16} aria-hidden />}
          onClick={() => {
            setClears(clears + 1);
            change(emptyFilter);
          }}
        >
          Clear filters
        </Button>
      )}
    </Group>
  );
}
