import { Checkbox, Group, NativeSelect, TextInput } from '@mantine/core';
import type { AccountRole } from '../session/session.ts';

const roles = [
  { value: 'viewer', label: 'Viewer: reads everything but results' },
  { value: 'approver', label: 'Approver: also decides on jobs and reads results' },
  { value: 'admin', label: 'Admin: everything' },
];

const modes = [
  { value: 'live', label: 'Live' },
  { value: 'test', label: 'Test' },
];

interface KeyLimitsProps {
  /** Role of the account that gets the key. */
  owner: AccountRole;
  /** Returns the properties of the input of a field. */
  inputOf: (field: 'operatorRole' | 'scopes' | 'ceiling' | 'mode') => object;
  /** Shows the mode of a user's key: a test key can only create test keys. */
  withMode: boolean;
}

/**
 * Inputs for what a new key allows: the role of an operator's key, or the mode, the scopes, and the ceiling
 * of a user's.
 */
export function KeyLimits({ owner, inputOf, withMode }: KeyLimitsProps) {
  if (owner === 'operator') return <NativeSelect label="Role" data={roles} {...inputOf('operatorRole')} />;
  return (
    <>
      {withMode && (
        <NativeSelect
          label="Mode"
          description="Jobs of a test key use the sandbox and cost nothing."
          data={modes}
          {...inputOf('mode')}
        />
      )}
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
