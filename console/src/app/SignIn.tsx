import {
  Alert,
  Anchor,
  Button,
  Center,
  Group,
  Paper,
  PasswordInput,
  Stack,
  Text,
  Title,
} from '@mantine/core';
import { useForm } from '@mantine/form';
import { IconInfoCircle, IconKey, IconPlant } from '@tabler/icons-react';
import { useState } from 'react';
import { describeError } from '../ui/errors/describe.ts';
import { linkedKey, signIn } from '../ui/session/sign-in.ts';

/** Sign-in page; `message` explains why the previous session ended. */
export function SignIn({ message }: { message: string }) {
  const [busy, setBusy] = useState(false);
  const form = useForm({
    initialValues: { key: linkedKey() },
    validate: {
      key: (value) => (/^[\x21-\x7e]+$/.test(value.trim()) ? null : 'Enter your API key. It has no spaces.'),
    },
  });
  const submit = form.onSubmit(async ({ key }) => {
    setBusy(true);
    try {
      await signIn(key.trim());
    } catch (error) {
      form.setFieldError('key', describeError(error).detail);
    } finally {
      setBusy(false);
    }
  });
  return (
    <Center component="main" mih="100dvh" p="md">
      <title>Sign in · Gleaner</title>
      <Paper withBorder p="xl" radius="md" w="100%" maw={420}>
        <form onSubmit={submit} noValidate>
          <Stack>
            <Group gap="xs">
              <IconPlant aria-hidden size={28} />
              <Title order={1} size="h3">
                Gleaner
              </Title>
            </Group>
            {message !== '' && (
              <Alert role="alert" color="yellow" icon={<IconInfoCircle />} title="You have been signed out">
                {message}
              </Alert>
            )}
            <PasswordInput
              label="API key"
              description="Signs in this browser for 7 days. The key itself is not stored."
              autoComplete="current-password"
              leftSection={<IconKey size={16} aria-hidden />}
              data-autofocus
              {...form.getInputProps('key')}
            />
            <Button type="submit" loading={busy}>
              Sign in
            </Button>
            <Text size="sm" c="dimmed">
              Ask an operator for an API key.{' '}
              <Anchor href="/docs" underline="always">
                API reference
              </Anchor>
            </Text>
          </Stack>
        </form>
      </Paper>
    </Center>
  );
}
