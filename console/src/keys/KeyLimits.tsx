import { Checkbox, Group, NativeSelect, TextInput } from '@mantine/core';
import type { Role } from '../session/session.ts';

const roles = [
  { value: 'viewer', label: 'Viewer: reads everything but results' },
  { value: 'approver', label: 'Approver: also decides on jobs and reads results' },
  { value: 'admin', label: 'Admin: everything' },
];

interface KeyLimitsProps {
  /** Role of the account that gets the key. */
  owner: Role;
  /** Returns the properties of the input of a field. */
  inputOf: (field: 'operatorRole' | 'scopes' | 'ceiling') => object;
}

/** Inputs for what a new key allows: the role of an operator's key, or the scopes and the ceiling of a user's. */
export function KeyLimits({ owner, inputOf }: KeyLimitsProps) {
  if (owner === 'operator') return <NativeSelect label="Role" data={roles} {...inputOf('operatorRole')} />;
  return (
    <>
      <Checkbox.Group label="Allows" {...inputOf('scopes')}>
        <Group mt={4}>
          <Checkbox value="read" label="Read jobs and results" />
          <Checkbox value="submit" label="Submit and cancel jobs" />
        </Group>
      </Checkbox.Group>
      <TextInput
        label="Credit ceiling"
        description="Maximum credits that the key may spend in total. Leave empty for no limit."
        inputMode="numeric"
        {...inputOf('ceiling')}
      />
    </>
  );
}
