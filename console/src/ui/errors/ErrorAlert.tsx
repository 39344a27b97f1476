import { Alert, Button, List, Stack, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import { canRepeat, describeError } from './describe.ts';

const maxProblems = 10;

/**
 * Shows an error with the service's explanation, and with `retry` a button, if a repeated call may
 * succeed.
 */
export function ErrorAlert({
  error,
  retry,
  title,
  isShownElsewhere = () => false,
  locate = (path) => path,
}: {
  error: unknown;
  retry?: () => unknown;
  title?: string;
  /** Returns whether the problem of a field is already shown at that field. */
  isShownElsewhere?: (path: string) => boolean;
  /** Names the location of a field (default: its path). */
  locate?: ((path: string) => string) | undefined;
}) {
  const description = describeError(error);
  const problems = description.problems.filter(({ where }) => !isShownElsewhere(where));
  const more = problems.length - maxProblems;
  const isAllShown = description.problems.length > 0 && problems.length === 0;
  return (
    <Alert role="alert" color="red" icon={<IconAlertTriangle />} title={title ?? description.title}>
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{isAllShown ? 'Fix the highlighted fields.' : description.detail}</Text>
        {problems.length > 0 && (
          <List size="sm">
            {problems.slice(0, maxProblems).map(({ where, message }) => (
              <List.Item key={`${where} ${message}`}>
                {where === '' ? '' : `${locate(where)}: `}
                {message}
              </List.Item>
            ))}
            {more > 0 && <List.Item>{more} more</List.Item>}
          </List>
        )}
        {retry && canRepeat(error) && (
          <Button size="xs" variant="default" onClick={() => retry()}>
            Try again
          </Button>
        )}
      </Stack>
    </Alert>
  );
}
