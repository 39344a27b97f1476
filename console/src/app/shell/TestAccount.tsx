import { Alert, Button, Group, Switch, Text } from '@mantine/core';
import { IconFlask } from '@tabler/icons-react';
import { useState } from 'react';
import { showError } from '../../ui/errors/describe.ts';
import { useSession } from '../../ui/session/session.ts';
import { changeMode } from '../../ui/session/sign-in.ts';

/** Returns a function that changes between the live and the test account, and whether it runs. */
function useModeChange() {
  const [changing, setChanging] = useState(false);
  const change = () => {
    setChanging(true);
    changeMode().catch((error) => {
      setChanging(false);
      showError(error);
    });
  };
  return { changing, change };
}

/** Switch between the live and the test account; absent if the session has only one. */
export function TestSwitch() {
  const { isTest, other } = useSession();
  const { changing, change } = useModeChange();
  if (other === null) return null;
  return (
    <Switch
      label="Test data"
      description="Sandbox jobs, which cost nothing"
      color="orange.8"
      p="sm"
      checked={isTest}
      disabled={changing}
      onChange={change}
    />
  );
}

/** Mark of every page that shows a test account, with the way back. */
export function TestBanner() {
  const { isTest, other } = useSession();
  const { changing, change } = useModeChange();
  if (!isTest) return null;
  return (
    <Alert
      color="orange"
      mb="md"
      p="xs"
      icon={<IconFlask aria-hidden />}
      role="note"
      aria-label="Test data"
    >
      <Group justify="space-between" gap="xs">
        <Text size="sm">
          <b>Test data.</b> Jobs read fake marketplaces and cost nothing.
        </Text>
        {other !== null && (
          <Button size="compact-sm" variant="default" loading={changing} onClick={change}>
            Show live data
          </Button>
        )}
      </Group>
    </Alert>
  );
}
