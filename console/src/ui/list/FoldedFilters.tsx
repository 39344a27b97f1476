import { Button, type ButtonProps } from '@mantine/core';
import { useDisclosure, useMediaQuery } from '@mantine/hooks';
import { IconFilter } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { phoneQuery } from './ListTable.tsx';

interface FoldedFiltersProps extends Pick<ButtonProps, 'size'> {
  /** Number of filters that are set. */
  set: number;
  children: ReactNode;
}

/** Filters, which fold away behind a button on narrow screens. */
export function FoldedFilters({ set, size, children }: FoldedFiltersProps) {
  const phone = useMediaQuery(phoneQuery, false, { getInitialValueInEffect: false });
  const [opened, { toggle }] = useDisclosure();
  if (!phone) return children;
  return (
    <>
      <Button
        size={size}
        variant="default"
        aria-expanded={opened}
        leftSection={<IconFilter size={16} aria-hidden />}
        onClick={toggle}
      >
        {set === 0 ? 'Filters' : `Filters (${set})`}
      </Button>
      {opened && children}
    </>
  );
}
