import { Button, EmptyState } from '@mantine/core';
import { IconMapOff } from '@tabler/icons-react';
import { Link } from 'react-router';
import { Page } from './Page.tsx';

/** Stands for an address that the console has no page for. */
export function NotFound() {
  return (
    <Page title="No such page">
      <EmptyState
        icon={<IconMapOff />}
        title="There is nothing at this address"
        description="It may be a page of another role: operators and users see different ones."
      >
        <EmptyState.Actions>
          <Button component={Link} to="/">
            To the start
          </Button>
        </EmptyState.Actions>
      </EmptyState>
    </Page>
  );
}
