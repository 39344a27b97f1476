import { Button, Center, Group, Paper, Stack, Text, Title } from '@mantine/core';
import { useState } from 'react';
import type { AccountSwitch } from '../ui/session/session.ts';

/** Asks before a sign-in link replaces the session of another account. */
export function SwitchAccount({ from, to, accept, decline }: AccountSwitch) {
  const [busy, setBusy] = useState(false);
  const switchAccount = () => {
    setBusy(true);
    void accept();
  };
  return (
    <Center component="main" mih="100dvh" p="md">
      <title>Switch account · Gleaner</title>
      <Paper withBorder p="xl" radius="md" w="100%" maw={420}>
        <Stack>
          <Title order={1} size="h3">
            Switch account?
          </Title>
          <Text style={{ overflowWrap: 'anywhere' }}>
            You are signed in as <b>{from}</b>. Sign in as <b>{to}</b> instead?
          </Text>
          <Group>
            <Button variant="default" onClick={decline} autoFocus>
              Stay
            </Button>
            <Button loading={busy} onClick={switchAccount}>
              Switch account
            </Button>
          </Group>
        </Stack>
      </Paper>
    </Center>
  );
}
