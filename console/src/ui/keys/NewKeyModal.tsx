import { type Timestamp, timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  Alert,
  Button,
  Checkbox,
  Code,
  Group,
  Modal,
  NativeSelect,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import type { ApiKey } from '../../../../gen/gleaner/account/v1/account_pb.ts';
import { keyScopes } from '../../../../src/contract/permission.ts';
import { FormModal } from '../actions/FormModal.tsx';
import { CopyTextButton } from '../CodeBlock.tsx';
import { fieldErrors } from '../errors/describe.ts';
import { type AccountRole, useSession } from '../session/session.ts';
import { validateName } from '../validate-name.ts';

const dayMs = 86_400_000;
const lifetimes = [
  { value: '', label: 'Never' },
  { value: '1', label: 'In 1 day' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In 1 year' },
];

/** Properties of a key to create. */
export interface NewKey {
  name: string;
  expiresAt: Timestamp | undefined;
  /** Scopes of a user's key; empty for an operator's key. */
  scopes: string[];
  creditCeiling: bigint | undefined;
  /** Role of an operator's key; '' for a user's key. */
  operatorRole: string;
  /** `test` for a key of the test account. */
  mode: 'live' | 'test';
}

/**
 * Returns the mode of a new key: that of the key it replaces, and test for a caller in test mode.
 */
function initialMode(rotated: ApiKey | null, isTest: boolean): NewKey['mode'] {
  if (isTest || rotated?.mode === 'test') return 'test';
  return 'live';
}

interface NewKeyModalProps {
  opened: boolean;
  /** Key to replace; null for a new key. */
  rotated: ApiKey | null;
  /** Role of the account that gets the key. */
  owner: AccountRole;
  close: () => void;
  /** Creates the key and returns its secret. */
  create: (key: NewKey) => Promise<string>;
}

/** Dialog that creates an API key and shows it once. */
export function NewKeyModal({ opened, rotated, owner, close, create }: NewKeyModalProps) {
  const { isTest } = useSession();
  const rotatedName = rotated?.name ?? '';
  const [created, setCreated] = useState('');
  const [busy, setBusy] = useState(false);
  const form = useForm({
    initialValues: {
      name: rotatedName,
      days: '',
      scopes: rotated?.scopes ?? [...keyScopes],
      ceiling: String(rotated?.creditCeiling ?? ''),
      operatorRole: rotated?.operatorRole || 'admin',
      mode: initialMode(rotated, isTest),
    },
    validate: {
      scopes: (value) =>
        owner === 'operator' || value.length > 0 ? null : 'Select what the key may do.',
      ceiling: (value) => (/^\d{0,12}$/.test(value) ? null : 'Enter a whole number of credits.'),
      name: validateName,
    },
  });
  const done = () => {
    close();
    setCreated('');
    form.reset();
  };
  const submit = form.onSubmit(async ({ name, days, scopes, ceiling, operatorRole, mode }) => {
    setBusy(true);
    try {
      const request = {
        name: name.trim(),
        expiresAt: days ? timestampFromMs(Date.now() + Number(days) * dayMs) : undefined,
      };
      const limits =
        owner === 'operator'
          ? { scopes: [], creditCeiling: undefined, operatorRole }
          : {
              scopes,
              creditCeiling: ceiling === '' ? undefined : BigInt(ceiling),
              operatorRole: '',
            };
      setCreated(await create({ ...request, ...limits, mode }));
    } catch (error) {
      form.setErrors(fieldErrors(error, ['name'], 'name'));
    } finally {
      setBusy(false);
    }
  });
  if (created !== '')
    return (
      <Modal opened={opened} onClose={done} title="API key created" closeOnClickOutside={false}>
        <CreatedKey apiKey={created} rotatedName={rotatedName} done={done} />
      </Modal>
    );
  return (
    <FormModal
      opened={opened}
      close={done}
      title={rotatedName === '' ? 'Create API key' : 'Rotate API key'}
      onSubmit={submit}
      submit="Create"
      busy={busy}
    >
      <TextInput
        label="Name"
        description="For example, the program that uses the key"
        required
        data-autofocus
        {...form.getInputProps('name')}
      />
      <NativeSelect label="Expires" data={lifetimes} {...form.getInputProps('days')} />
      <KeyLimits owner={owner} inputOf={form.getInputProps} withMode={!isTest} />
    </FormModal>
  );
}

interface CreatedKeyProps {
  apiKey: string;
  /** Name of the replaced key; '' for a new key. */
  rotatedName: string;
  done: () => void;
}

/** A new API key, to copy. */
function CreatedKey({ apiKey, rotatedName, done }: CreatedKeyProps) {
  return (
    <Stack>
      <Alert color="yellow" title="Copy the key now">
        <Text size="sm">
          It is shown only once.
          {rotatedName !== '' &&
            ' The old key still works: revoke it when your programs use the new one.'}
        </Text>
      </Alert>
      <Code
        block
        data-testid="api-key"
        style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}
      >
        {apiKey}
      </Code>
      <Group justify="flex-end">
        <CopyTextButton text={apiKey} />
        <Button onClick={done}>Done</Button>
      </Group>
    </Stack>
  );
}

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
 * Inputs for what a new key allows: the role of an operator's key, or the mode, the scopes, and the
 * ceiling of a user's.
 */
function KeyLimits({ owner, inputOf, withMode }: KeyLimitsProps) {
  if (owner === 'operator')
    return <NativeSelect label="Role" data={roles} {...inputOf('operatorRole')} />;
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
