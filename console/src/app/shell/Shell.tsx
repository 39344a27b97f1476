import {
  ActionIcon,
  AppShell,
  Burger,
  Button,
  Group,
  Kbd,
  Text,
  useMantineColorScheme,
} from '@mantine/core';
import { useDisclosure, useHotkeys } from '@mantine/hooks';
import {
  IconDeviceDesktop,
  IconDevices,
  IconLogout,
  IconMoon,
  IconPlant,
  IconSearch,
  IconSun,
  IconUser,
} from '@tabler/icons-react';
import { lazy, Suspense, useEffect, useState } from 'react';
import { ErrorBoundary } from 'react-error-boundary';
import { Outlet, useLocation } from 'react-router';
import { showError } from '../../ui/errors/describe.ts';
import { Loading } from '../../ui/layout/Loading.tsx';
import { TestBadge } from '../../ui/layout/Page.tsx';
import { MenuButton } from '../../ui/popup/MenuButton.tsx';
import { useSession } from '../../ui/session/session.ts';
import { signOut } from '../../ui/session/sign-in.ts';
import { Navigation } from './Navigation.tsx';
import { PageError } from './PageError.tsx';
import classes from './skip-link.module.css';
import { TestBanner, TestSwitch } from './TestAccount.tsx';
import { useScrollPositions } from './useScrollPositions.ts';

/** Frame around every page: header, navigation and content. */
export function Shell() {
  const { isTest } = useSession();
  const [opened, { toggle, close }] = useDisclosure();
  const { pathname, key } = useLocation();
  useScrollPositions();
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
            <SessionButton />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label="Pages">
        <AppShell.Section grow style={{ overflowY: 'auto' }}>
          <Navigation />
        </AppShell.Section>
        <AppShell.Section>
          <TestSwitch />
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1}>
        <TestBanner />
        <ErrorBoundary FallbackComponent={PageError} resetKeys={[key]}>
          <Suspense fallback={<Loading />}>
            <Outlet />
          </Suspense>
        </ErrorBoundary>
      </AppShell.Main>
    </AppShell>
  );
}

const colorSchemes = [
  { value: 'auto', label: 'System', Icon: IconDeviceDesktop },
  { value: 'light', label: 'Light', Icon: IconSun },
  { value: 'dark', label: 'Dark', Icon: IconMoon },
] as const;

/** Switches between the light, dark and system colour scheme; the browser stores the choice. */
function ColorSchemeSwitch() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const { Icon, label } =
    colorSchemes.find(({ value }) => value === colorScheme) ?? colorSchemes[0];
  return (
    <MenuButton
      actions={colorSchemes.map((each) => ({
        label: each.label,
        icon: each.Icon,
        run: () => setColorScheme(each.value),
      }))}
    >
      <ActionIcon variant="default" size="lg" aria-label={`Colour scheme: ${label}`}>
        <Icon size={18} aria-hidden />
      </ActionIcon>
    </MenuButton>
  );
}

const Search = lazy(async () => ({ default: (await import('./Search.tsx')).Search }));

/** Button that opens the search over jobs, users and pages, also with Ctrl+K. */
function SearchButton() {
  const [isMounted, setMounted] = useState(false);
  const open = () => {
    setMounted(true);
    void import('./Search.tsx').then(({ openSearch }) => openSearch());
  };
  // The search has its own shortcut once it is mounted.
  useHotkeys(isMounted ? [] : [['mod+K', open]], []);
  return (
    <>
      <Button
        visibleFrom="sm"
        variant="default"
        leftSection={<IconSearch size={16} aria-hidden />}
        rightSection={
          <Kbd size="xs" aria-hidden>
            Ctrl K
          </Kbd>
        }
        onClick={open}
        aria-keyshortcuts="Control+K"
      >
        Search
      </Button>
      <ActionIcon hiddenFrom="sm" variant="default" size="lg" aria-label="Search" onClick={open}>
        <IconSearch size={18} aria-hidden />
      </ActionIcon>
      {isMounted && (
        <Suspense>
          <Search />
        </Suspense>
      )}
    </>
  );
}

const leave = (everywhere: boolean) => void signOut(everywhere).catch(showError);

/** Name of the account, with the menu of the session. */
function SessionButton() {
  const { role, name } = useSession();
  const label = name || (role === 'operator' ? 'Operator' : 'Account');
  return (
    <MenuButton
      actions={[
        { label: 'Sign out', icon: IconLogout, run: () => leave(false) },
        { label: 'Sign out everywhere', icon: IconDevices, run: () => leave(true) },
      ]}
    >
      <Button variant="default" px={{ base: 9, sm: 'md' }} maw={220} aria-label={label}>
        <IconUser size={16} aria-hidden />
        <Text span inherit truncate ml="xs" visibleFrom="sm">
          {label}
        </Text>
      </Button>
    </MenuButton>
  );
}
