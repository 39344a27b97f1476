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
import { IconInfoCircle, IconKey, IconPlant } from '@tabler/icons-react';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { explainRestError } from '../ui/errors/rest-error.ts';
import { basePath } from '../ui/session/base-path.ts';
import { firstEntry, signIn } from '../ui/session/sign-in.ts';

/** Sign-in page; `message` explains why the previous session ended. */
export function SignIn({ message }: { message: string }) {
  const [busy, setBusy] = useState(false);
  const [key, setKey] = useState(firstEntry().key);
  const [problem, setProblem] = useState(firstEntry().problem);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    try {
      await signIn(key.trim());
    } catch (error) {
      setProblem(explainRestError(error));
      input.current?.focus();
    } finally {
      setBusy(false);
    }
  };
  return (
    <Center component="main" mih="100dvh" p="md">
      <title>Sign in · Gleaner</title>
      <Paper withBorder p="xl" radius="md" w="100%" maw={420}>
        <form onSubmit={(event) => void submit(event)} noValidate>
          <Stack>
            <Group gap="xs">
              <IconPlant aria-hidden size={28} />
              <Title order={1} size="h3">
                Gleaner
              </Title>
            </Group>
            {message !== '' && (
              <Alert
                role="alert"
                color="yellow"
                icon={<IconInfoCircle />}
                title="You have been signed out"
              >
                {message}
              </Alert>
            )}
            <PasswordInput
              label="API key"
              description="Signs in this browser for 7 days. The key itself is not stored."
              autoComplete="current-password"
              leftSection={<IconKey size={16} aria-hidden />}
              ref={input}
              value={key}
              error={problem}
              onChange={({ currentTarget }) => {
                setKey(currentTarget.value);
                setProblem('');
              }}
            />
            <Button type="submit" loading={busy}>
              Sign in
            </Button>
            <Text size="sm" c="dimmed">
              Ask an operator for an API key.{' '}
              <Anchor href={`${basePath}/docs`} underline="always">
                API reference
              </Anchor>
            </Text>
          </Stack>
        </form>
      </Paper>
    </Center>
  );
}
