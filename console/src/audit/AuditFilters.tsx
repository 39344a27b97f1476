import { Group, NativeSelect, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useId } from 'react';
import { services } from '../../../src/contract/services.ts';
import { methodText } from '../../../src/present/names.ts';
import { FoldedFilters } from '../ui/list/FoldedFilters.tsx';

/** Selection of the audit log; '' for any. */
export interface AuditSearch {
  actorId: string;
  target: string;
  action: string;
  outcome: string;
  /** First day, such as "2030-01-31". */
  since: string;
  /** Last day. */
  until: string;
}

/** Selects every entry. */
export const emptySearch: AuditSearch = {
  actorId: '',
  target: '',
  action: '',
  outcome: '',
  since: '',
  until: '',
};

const outcomes = [
  { value: '', label: 'Any outcome' },
  { value: 'ok', label: 'Succeeded' },
  { value: 'forbidden', label: 'Not allowed' },
  { value: 'conflict', label: 'Conflict' },
  { value: 'not_found', label: 'Not found' },
  { value: 'insufficient_credits', label: 'Insufficient credits' },
];

const methodNames = new Set(services.flatMap(({ methods }) => methods.map(({ name }) => name)));

/** Methods that change something, in the order of their texts. */
const actions = [
  { value: '', label: 'Any action' },
  ...Array.from(methodNames)
    .filter((name) => !/^(Get|List|Export|Retrieve|Preview|Watch)[A-Z]/.test(name))
    .map((value) => ({ value, label: methodText(value) }))
    .toSorted((one, other) => one.label.localeCompare(other.label)),
];

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
          data={actions}
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
