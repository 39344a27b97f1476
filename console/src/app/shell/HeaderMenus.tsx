import { Menu, useMantineColorScheme } from '@mantine/core';
import { IconDevices, IconLogout } from '@tabler/icons-react';
import {
  type ComponentProps,
  cloneElement,
  type ReactElement,
  type ReactNode,
  useEffect,
  useRef,
  useState,
} from 'react';
import { showError } from '../../ui/errors/describe.ts';
import { signOut } from '../../ui/session/sign-in.ts';
import { colorSchemes } from './color-schemes.ts';

export interface HeaderMenuProps {
  /** Button that opens the menu. */
  target: ReactElement<ComponentProps<'button'>>;
}

/** Menu of the header, which opens once it has been loaded. */
function HeaderMenu({ target, children }: HeaderMenuProps & { children: ReactNode }) {
  const [opened, setOpened] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    // It replaces the button that had the focus, which returns here when the menu closes.
    button.current?.focus();
    setOpened(true);
  }, []);
  return (
    <Menu position="bottom-end" withinPortal opened={opened} onChange={setOpened}>
      <Menu.Target>{cloneElement(target, { ref: button })}</Menu.Target>
      <Menu.Dropdown>{children}</Menu.Dropdown>
    </Menu>
  );
}

/** Menu of the light, dark and system colour schemes. */
export function ColorSchemeMenu({ target }: HeaderMenuProps) {
  const { setColorScheme } = useMantineColorScheme();
  return (
    <HeaderMenu target={target}>
      {colorSchemes.map(({ value, label, Icon }) => (
        <Menu.Item
          key={value}
          leftSection={<Icon size={16} aria-hidden />}
          onClick={() => setColorScheme(value)}
        >
          {label}
        </Menu.Item>
      ))}
    </HeaderMenu>
  );
}

const leave = (everywhere: boolean) => void signOut(everywhere).catch(showError);

/** Menu of the session: sign-out, in this browser or everywhere. */
export function SessionMenu({ target }: HeaderMenuProps) {
  return (
    <HeaderMenu target={target}>
      <Menu.Item leftSection={<IconLogout size={16} aria-hidden />} onClick={() => leave(false)}>
        Sign out
      </Menu.Item>
      <Menu.Item leftSection={<IconDevices size={16} aria-hidden />} onClick={() => leave(true)}>
        Sign out everywhere
      </Menu.Item>
    </HeaderMenu>
  );
}
