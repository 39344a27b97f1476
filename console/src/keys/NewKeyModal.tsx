import { type Timestamp, timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  Alert,
  Button,
  Code,
  CopyButton,
  Group,
  Modal,
  NativeSelect,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useState } from 'react';
import { describeError } from '../errors/describe.ts';

const dayMs = 86_400_000;
const lifetimes = [
  { value: '', label: 'Never' },
  { value: '1', label: 'In 1 day' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In 1 year' },
];

interface NewKeyModalProps {
  opened: boolean;
  /** Name of the key to replace; '' for a new key. */
  rotatedName: string;
  close: () => void;
  /** Creates the key and returns its secret. */
  create: (name: string, expiresAt: Timestamp | undefined) => Promise<string>;
}

/** Dialog that creates an API key and shows it once. */
export function NewKeyModal({ opened, rotatedName, close, create }: NewKeyModalProps) {
  const [created, setCreated] = useState('');
  const [busy, setBusy] = useState(false);
  const form = useForm({
    initialValues: { name: rotatedName, days: '' },
    validate: {
      name: (value) => (/^.{1,200}$/.test(value.trim()) ? null : 'Enter a name of 1 to 200 characters.'),
    },
  });
  const done = () => {
    close();
    setCreated('');
    form.reset();
  };
  const submit = form.onSubmit(async ({ name, days }) => {
    setBusy(true);
    try {
      setCreated(
        await create(name.trim(), days ? timestampFromMs(Date.now() + Number(days) * dayMs) : undefined),
      );
    } catch (error) {
      form.setFieldError('name', describeError(error).detail);
    } finally {
      setBusy(false);
    }
  });
  return (
    <Modal
      opened={opened}
      onClose={done}
      title={created !== '' ? 'API key created' : rotatedName === '' ? 'Create API key' : 'Rotate API key'}
      closeOnClickOutside={created === ''}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {created === '' ? (
        <form onSubmit={submit} noValidate>
          <Stack>
            <TextInput
              label="Name"
              description="For example, the program that uses the key"
              required
              data-autofocus
              {...form.getInputProps('name')}
            />
            <NativeSelect label="Expires" data={lifetimes} {...form.getInputProps('days')} />
            <Group justify="flex-end">
              <Button type="submit" loading={busy}>
                Create
              </Button>
            </Group>
          </Stack>
        </form>
      ) : (
        <CreatedKey apiKey={created} rotatedName={rotatedName} done={done} />
      )}
    </Modal>
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
          {rotatedName !== '' && ' The old key still works: revoke it when your programs use the new one.'}
        </Text>
      </Alert>
      <Code block data-testid="api-key" style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
        {apiKey}
      </Code>
      <Group justify="flex-end">
        <CopyButton value={apiKey}>
          {({ copied, copy }) => (
            <Button
              variant="default"
              onClick={copy}
              leftSection={copied ? <IconCheck size={16} aria-hidden /> : <IconCopy size={16} aria-hidden />}
            >
              {copied ? 'Copied' : 'Copy'}
            </Button>
          )}
        </CopyButton>
        <Button onClick={done}>Done</Button>
      </Group>
    </Stack>
  );
}
