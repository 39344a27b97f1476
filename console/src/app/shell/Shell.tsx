import { AppShell, Burger, Group, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlant } from '@tabler/icons-react';
import { useEffect } from 'react';
import { Outlet, ScrollRestoration, useLocation } from 'react-router';
import { TestBadge } from '../../ui/layout/TestBadge.tsx';
import { useSession } from '../../ui/session/session.ts';
import { ColorSchemeSwitch } from './ColorSchemeSwitch.tsx';
import { Navigation } from './Navigation.tsx';
import { SearchButton } from './SearchButton.tsx';
import { SessionMenu } from './SessionMenu.tsx';
import classes from './skip-link.module.css';
import { TestBanner, TestSwitch } from './TestAccount.tsx';

/** Frame around every page: header, navigation and content. */
export function Shell() {
  const { isTest } = useSession();
  const [opened, { toggle, close }] = useDisclosure();
  const { pathname } = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: navigating closes the menu.
  useEffect(close, [pathname]);
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 240, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      padding="md"
    >
      <a className={classes.link} href="#content">
        Skip to content
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="xs" wrap="nowrap">
            <Burger
              opened={opened}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={opened ? 'Close menu' : 'Open menu'}
              aria-expanded={opened}
            />
            <IconPlant aria-hidden size={24} />
            <Text fw={600} visibleFrom="xs">
              Gleaner
            </Text>
            {isTest && <TestBadge label="Test data" />}
          </Group>
          <Group gap="xs" wrap="nowrap">
            <SearchButton />
            <ColorSchemeSwitch />
            <SessionMenu />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label="Pages">
        <AppShell.Section grow>
          <Navigation />
        </AppShell.Section>
        <AppShell.Section>
          <TestSwitch />
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1}>
        <TestBanner />
        <Outlet />
        <ScrollRestoration />
      </AppShell.Main>
    </AppShell>
  );
}
