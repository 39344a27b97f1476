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
import { describeFault } from '../fault/describe.ts';

const dayMs = 86_400_000;
const lifetimes = [
  { value: '', label: 'Never' },
  { value: '1', label: 'After a day' },
  { value: '30', label: 'After 30 days' },
  { value: '90', label: 'After 90 days' },
  { value: '365', label: 'After a year' },
];

interface NewKeyModalProps {
  opened: boolean;
  close: () => void;
  /** Makes the key and gives it. */
  create: (name: string, expiresAt: Timestamp | undefined) => Promise<string>;
}

/** Makes an API key, and shows it this once. */
export function NewKeyModal({ opened, close, create }: NewKeyModalProps) {
  const [made, setMade] = useState('');
  const [busy, setBusy] = useState(false);
  const form = useForm({
    initialValues: { name: '', days: '' },
    validate: {
      name: (value) => (/^.{1,200}$/.test(value.trim()) ? null : 'Enter a name of 1 to 200 characters.'),
    },
  });
  const done = () => {
    close();
    setMade('');
    form.reset();
  };
  const submit = form.onSubmit(async ({ name, days }) => {
    setBusy(true);
    try {
      setMade(
        await create(name.trim(), days ? timestampFromMs(Date.now() + Number(days) * dayMs) : undefined),
      );
    } catch (error) {
      form.setFieldError('name', describeFault(error).detail);
    } finally {
      setBusy(false);
    }
  });
  return (
    <Modal
      opened={opened}
      onClose={done}
      title={made === '' ? 'New API key' : 'The new API key'}
      closeOnClickOutside={made === ''}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {made === '' ? (
        <form onSubmit={submit} noValidate>
          <Stack>
            <TextInput
              label="Name"
              description="What it is for, such as the program that will use it."
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
        <Stack>
          <Alert color="yellow" title="Copy it now">
            <Text size="sm">It is not stored, and cannot be shown again.</Text>
          </Alert>
          <Code block data-testid="api-key" style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
            {made}
          </Code>
          <Group justify="flex-end">
            <CopyButton value={made}>
              {({ copied, copy }) => (
                <Button
                  variant="default"
                  onClick={copy}
                  leftSection={
                    copied ? <IconCheck size={16} aria-hidden /> : <IconCopy size={16} aria-hidden />
                  }
                >
                  {copied ? 'Copied' : 'Copy'}
                </Button>
              )}
            </CopyButton>
            <Button onClick={done}>I have it</Button>
          </Group>
        </Stack>
      )}
    </Modal>
  );
}
