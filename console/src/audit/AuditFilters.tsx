import { Group, NativeSelect, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useId } from 'react';
import { FoldedFilters } from '../ui/list/FoldedFilters.tsx';
import { type AuditSearch, actions, outcomes } from './search.ts';

const texts = [
  ['actorId', 'Who', 'Operator or user'],
  ['target', 'On what', 'Job, user, or key ID'],
] as const;

interface AuditFiltersProps {
  search: AuditSearch;
  /** Names of operators and users to suggest, by id. */
  actors: ReadonlyMap<string, string>;
  change: (search: AuditSearch) => void;
}

export function AuditFilters({ search, actors, change }: AuditFiltersProps) {
  const actorsId = useId();
  const changeLater = useDebouncedCallback(change, 300);
  return (
    <Group gap="sm" align="flex-end">
      <FoldedFilters set={Object.values(search).filter((value) => value !== '').length}>
        {texts.map(([field, label, placeholder]) => (
          <TextInput
            key={field}
            label={label}
            placeholder={placeholder}
            maxLength={64}
            w={165}
            list={field === 'actorId' ? actorsId : undefined}
            defaultValue={search[field]}
            onChange={({ currentTarget: { value } }) =>
              changeLater({ ...search, [field]: value.trim() })
            }
          />
        ))}
        <NativeSelect
          label="Action"
          w={170}
          data={[{ value: '', label: 'Any action' }, ...actions]}
          value={search.action}
          onChange={({ currentTarget: { value } }) => change({ ...search, action: value })}
        />
        <NativeSelect
          label="Outcome"
          w={140}
          data={outcomes}
          value={search.outcome}
          onChange={({ currentTarget: { value } }) => change({ ...search, outcome: value })}
        />
        {(['since', 'until'] as const).map((field) => (
          <TextInput
            key={field}
            type="date"
            w={140}
            label={field === 'since' ? 'From' : 'To'}
            value={search[field]}
            onChange={({ currentTarget: { value } }) => change({ ...search, [field]: value })}
          />
        ))}
      </FoldedFilters>
      <datalist id={actorsId}>
        {[...actors].map(([id, name]) => (
          <option key={id} value={id} label={name} />
        ))}
      </datalist>
    </Group>
  );
}
