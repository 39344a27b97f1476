import { Button, Menu } from '@mantine/core';
import { IconBook, IconLogout, IconUser } from '@tabler/icons-react';
import { endSession, useSession } from '../session/session.ts';

/** Says who is signed in, and signs out. */
export function SessionMenu() {
  const { role, name } = useSession();
  const who = role === 'operator' ? 'Operator' : name || 'Account';
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <Button variant="default" leftSection={<IconUser size={16} aria-hidden />} maw={220}>
          {who}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item component="a" href="/docs" leftSection={<IconBook size={16} aria-hidden />}>
          Documentation of the API
        </Menu.Item>
        <Menu.Item leftSection={<IconLogout size={16} aria-hidden />} onClick={() => endSession()}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
