import { Alert, Button, List, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { describeFault } from './describe.ts';

const most = 10;

/** Shows what went wrong as the service says it, with a button to try again where that makes sense. */
export function FaultAlert({
  error,
  retry,
  title,
}: {
  error: unknown;
  retry?: () => unknown;
  title?: string;
}) {
  const fault = describeFault(error);
  const more = fault.problems.length - most;
  return (
    <Alert role="alert" color="red" icon={<IconAlertTriangle />} title={title ?? fault.title}>
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{fault.detail}</Text>
        {fault.problems.length > 0 && (
          <List size="sm">
            {fault.problems.slice(0, most).map(({ where, message }) => (
              <List.Item key={`${where} ${message}`}>
                {where === '' ? '' : `${where}: `}
                {message}
              </List.Item>
            ))}
            {more > 0 && <List.Item>and {more} more</List.Item>}
          </List>
        )}
        {retry && (
          <Button size="xs" variant="default" onClick={() => retry()}>
            Try again
          </Button>
        )}
      </Stack>
    </Alert>
  );
}
