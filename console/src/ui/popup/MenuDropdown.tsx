import { Menu } from '@mantine/core';
import type { Icon } from '@tabler/icons-react';
import { useMountedOpen } from '../layout/useMountedOpen.ts';
import { PopupTarget } from './PopupTarget.tsx';
import type { Popup } from './usePopup.ts';

/** Action of a menu. */
export interface MenuAction {
  label: string;
  icon?: Icon;
  run: () => void;
  /** Whether it destroys something; default false. */
  isDangerous?: boolean;
  /** Why the caller may not use it; null if there is no reason. */
  refusal?: string | null;
}

interface MenuDropdownProps {
  popup: Popup;
  heading: string | undefined;
  actions: readonly MenuAction[];
}

/** Menu of a MenuButton. A file of its own, because it is loaded with its first use. */
export function MenuDropdown({ popup, heading, actions }: MenuDropdownProps) {
  const { id, button, opened, change } = popup;
  const isOpen = useMountedOpen(opened);
  return (
    <Menu position="bottom-end" id={id} opened={isOpen} onChange={change}>
      <Menu.Target>
        <PopupTarget button={button} />
      </Menu.Target>
      <Menu.Dropdown>
        {heading !== undefined && <Menu.Label>{heading}</Menu.Label>}
        {actions.map(({ label, icon: Icon, run, isDangerous, refusal }) => (
          <Menu.Item
            key={label}
            {...(isDangerous ? { color: 'var(--mantine-color-error)' } : {})}
            leftSection={Icon && <Icon size={16} aria-hidden />}
            disabled={typeof refusal === 'string'}
            title={refusal ?? undefined}
            onClick={run}
          >
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
