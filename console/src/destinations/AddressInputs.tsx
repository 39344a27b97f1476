import {
  Fieldset,
  Group,
  PasswordInput,
  SimpleGrid,
  Stack,
  Switch,
  Text,
  TextInput,
} from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { randomId } from '@mantine/hooks';
import type { Destination } from '../../../gen/gleaner/destination/v1/destination_pb.ts';
import { AddButton, RemoveButton } from '../ui/actions/RowButtons.tsx';
import type { DestinationValues } from './settings.ts';

export interface AddressInputsProps {
  form: UseFormReturnType<DestinationValues>;
  /** Destination to change; null for a new one. */
  destination: Destination | null;
}

const secretHelp = (destination: Destination | null) =>
  destination === null
    ? 'Stored encrypted, and never shown again.'
    : 'Leave empty to keep the stored one.';

export function BucketInputs({ form, destination }: AddressInputsProps) {
  return (
    <>
      <TextInput
        label="Service URL"
        description="Without a path."
        placeholder="https://s3.eu-central-1.amazonaws.com"
        inputMode="url"
        withAsterisk
        {...form.getInputProps('url')}
      />
      <TextInput label="Bucket" withAsterisk {...form.getInputProps('bucket')} />
      <TextInput label="Region" placeholder="us-east-1" {...form.getInputProps('region')} />
      <TextInput
        label="Prefix"
        description="Start of the names of all objects."
        {...form.getInputProps('prefix')}
      />
      <TextInput
        label="Access key ID"
        autoComplete="off"
        withAsterisk
        {...form.getInputProps('accessKey')}
      />
      <PasswordInput
        label="Secret key"
        description={`${secretHelp(destination)}${
          destination === null
            ? ''
            : ' Enter it again if the URL, the bucket, or the access key changes.'
        }`}
        autoComplete="new-password"
        withAsterisk={destination === null}
        {...form.getInputProps('secretKey')}
      />
    </>
  );
}

export function HttpsInputs({ form, destination }: AddressInputsProps) {
  return (
    <>
      <TextInput
        label="URL"
        description="The names of files are appended to it."
        placeholder="https://files.example.com/inbox"
        inputMode="url"
        withAsterisk
        {...form.getInputProps('url')}
      />
      <HeaderInputs form={form} stored={destination?.headerNames ?? []} />
      <PasswordInput
        label="Query"
        description={`Such as the signature of a storage service. ${secretHelp(destination)}`}
        autoComplete="new-password"
        {...form.getInputProps('query')}
      />
      {destination !== null && (
        <Switch
          label="Remove the stored headers and query"
          description="Those that you enter here are kept."
          {...form.getInputProps('clearSecrets', { type: 'checkbox' })}
        />
      )}
    </>
  );
}

const maxHeaders = 20;

interface HeaderInputsProps {
  form: UseFormReturnType<DestinationValues>;
  stored: readonly string[];
}

/** Inputs for the headers of requests to an address. */
function HeaderInputs({ form, stored }: HeaderInputsProps) {
  const { headers } = form.values;
  return (
    <Fieldset legend="Headers">
      <Stack gap="xs" align="stretch">
        <Text size="sm" c="dimmed">
          {stored.length === 0
            ? 'Sent with each request, such as Authorization.'
            : `Stored: ${stored.join(', ')}. Headers that you add replace all of them.`}
        </Text>
        {headers.map(({ id }, index) => (
          <Group key={id} wrap="nowrap" align="flex-start">
            <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs" style={{ flex: 1 }}>
              <TextInput
                aria-label={`Name of header ${index + 1}`}
                placeholder="Authorization"
                {...form.getInputProps(`headers.${index}.name`)}
              />
              <PasswordInput
                aria-label={`Value of header ${index + 1}`}
                placeholder="Value"
                autoComplete="new-password"
                {...form.getInputProps(`headers.${index}.value`)}
              />
            </SimpleGrid>
            <RemoveButton
              label={`Remove header ${index + 1}`}
              onClick={() => form.removeListItem('headers', index)}
            />
          </Group>
        ))}
        <AddButton
          size="xs"
          label="Add header"
          disabled={headers.length >= maxHeaders}
          onClick={() => form.insertListItem('headers', { id: randomId(), name: '', value: '' })}
        />
      </Stack>
    </Fieldset>
  );
}
