import { Code, ConnectError } from '@connectrpc/connect';
import { Button, Stack, Text } from '@mantine/core';
import { Link } from 'react-router';
import { Page } from '../layout/Page.tsx';
import { useSession } from '../session/session.ts';
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
  const { other } = useSession();
  const isMissing = ConnectError.from(error).code === Code.NotFound;
  return (
    <Page title={title}>
      <Stack align="flex-start">
        <ErrorAlert error={error} retry={retry} />
        {isMissing && other?.mode === 'test' && (
          <Text size="sm">If it is on test data, turn on Test data in the menu.</Text>
        )}
        {isMissing && other?.mode === 'live' && (
          <Text size="sm">If it is on live data, choose Show live data.</Text>
        )}
        <Button component={Link} to={path} variant="default">
          {label}
        </Button>
      </Stack>
    </Page>
  );
}
