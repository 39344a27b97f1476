import { Button, Menu, Text } from '@mantine/core';
import { IconDevices, IconLogout, IconUser } from '@tabler/icons-react';
import { showError } from '../../ui/errors/describe.ts';
import { useSession } from '../../ui/session/session.ts';
import { signOut } from '../../ui/session/sign-in.ts';

const leave = (everywhere: boolean) => void signOut(everywhere).catch(showError);

/** Menu of the session: sign-out, in this browser or everywhere. */
export function SessionMenu() {
  const { role, name } = useSession();
  const label = name || (role === 'operator' ? 'Operator' : 'Account');
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <Button variant="default" px={{ base: 9, sm: 'md' }} maw={220} aria-label={label}>
          <IconUser size={16} aria-hidden />
          <Text span inherit truncate ml="xs" visibleFrom="sm">
            {label}
          </Text>
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<IconLogout size={16} aria-hidden />} onClick={() => leave(false)}>
          Sign out
        </Menu.Item>
        <Menu.Item leftSection={<IconDevices size={16} aria-hidden />} onClick={() => leave(true)}>
          Sign out everywhere
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
