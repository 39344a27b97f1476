import { Button, Stack } from '@mantine/core';
import { Link } from 'react-router';
import { Page } from '../layout/Page.tsx';
import { ErrorAlert } from './ErrorAlert.tsx';

interface LoadFailureProps {
  title: string;
  error: unknown;
  retry: () => unknown;
  /** Path and label of the list in which the missing thing would be. */
  list: readonly [path: string, label: string];
}

/** Page of a thing that could not be loaded, with a link to the list of its kind. */
export function LoadFailure({ title, error, retry, list: [path, label] }: LoadFailureProps) {
  return (
    <Page title={title}>
      <Stack align="flex-start">
        <ErrorAlert error={error} retry={retry} />
        <Button component={Link} to={path} variant="default">
          {label}
        </Button>
      </Stack>
    </Page>
  );
}
