import { Group, NativeSelect, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';

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

const actions = [
  { value: '', label: 'Any action' },
  ...OperatorService.methods
    .map(({ name }) => name)
    .filter((name) => !/^(Get|List|Export)[A-Z]/.test(name))
    .toSorted(),
];

const texts = [
  ['actorId', 'Who', 'ID of an operator or user'],
  ['target', 'On what', 'ID of a job, user, or key'],
] as const;

interface AuditFiltersProps {
  search: AuditSearch;
  change: (search: AuditSearch) => void;
}

/** Filters of the audit log. */
export function AuditFilters({ search, change }: AuditFiltersProps) {
  const changeLater = useDebouncedCallback(change, 300);
  return (
    <Group gap="sm" align="flex-end">
      {texts.map(([field, label, placeholder]) => (
        <TextInput
          key={field}
          label={label}
          placeholder={placeholder}
          maxLength={64}
          defaultValue={search[field]}
          onChange={({ currentTarget: { value } }) => changeLater({ ...search, [field]: value.trim() })}
        />
      ))}
      <NativeSelect
        label="Action"
        data={actions}
        value={search.action}
        onChange={({ currentTarget: { value } }) => change({ ...search, action: value })}
      />
      <NativeSelect
        label="Outcome"
        data={outcomes}
        value={search.outcome}
        onChange={({ currentTarget: { value } }) => change({ ...search, outcome: value })}
      />
      {(['since', 'until'] as const).map((field) => (
        <TextInput
          key={field}
          type="date"
          label={field === 'since' ? 'From' : 'To'}
          value={search[field]}
          onChange={({ currentTarget: { value } }) => change({ ...search, [field]: value })}
        />
      ))}
    </Group>
  );
}
