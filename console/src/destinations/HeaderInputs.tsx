import { Fieldset, Group, PasswordInput, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { randomId } from '@mantine/hooks';
import { AddButton, RemoveButton } from '../ui/actions/RowButtons.tsx';
import type { DestinationValues } from './settings.ts';

const maxHeaders = 20;

interface HeaderInputsProps {
  form: UseFormReturnType<DestinationValues>;
  stored: readonly string[];
}

/** Inputs for the headers of requests to an address. */
export function HeaderInputs({ form, stored }: HeaderInputsProps) {
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
