import { Button, EmptyState } from '@mantine/core';
import { IconMapOff } from '@tabler/icons-react';
import { Link } from 'react-router';
import { Page } from './Page.tsx';

/** Shown for unknown addresses. */
export function NotFound() {
  return (
    <Page title="Page not found">
      <EmptyState
        icon={<IconMapOff />}
        title="This page does not exist"
        description="Operators and users have different pages. Check which key you signed in with."
      >
        <EmptyState.Actions>
          <Button component={Link} to="/">
            Go to the start page
          </Button>
        </EmptyState.Actions>
      </EmptyState>
    </Page>
  );
}
