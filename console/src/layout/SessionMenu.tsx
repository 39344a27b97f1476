import { Button, Menu } from '@mantine/core';
import { IconBook, IconLogout, IconUser } from '@tabler/icons-react';
import { endSession, useSession } from '../session/session.ts';

/** Menu of the session: API reference and sign-out. */
export function SessionMenu() {
  const { role, name } = useSession();
  const label = role === 'operator' ? 'Operator' : name || 'Account';
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <Button variant="default" leftSection={<IconUser size={16} aria-hidden />} maw={220}>
          {label}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item component="a" href="/docs" leftSection={<IconBook size={16} aria-hidden />}>
          API reference
        </Menu.Item>
        <Menu.Item leftSection={<IconLogout size={16} aria-hidden />} onClick={() => endSession()}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
