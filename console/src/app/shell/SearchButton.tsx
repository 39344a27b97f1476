import { ActionIcon, Button, Kbd } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { lazy, Suspense, useState } from 'react';

const Search = lazy(async () => ({ default: (await import('./Search.tsx')).Search }));

/** Button that opens the search over jobs, users and pages, also with Ctrl+K. */
export function SearchButton() {
  const [isMounted, setMounted] = useState(false);
  const open = () => {
    setMounted(true);
    void import('@mantine/spotlight').then(({ spotlight }) => spotlight.open());
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
