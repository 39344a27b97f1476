import { Badge } from '@mantine/core';
import { colorOf, statusText } from './status.ts';

/** The state of a job, a batch, a unit or a message. */
export function StatusBadge({ status }: { status: string }) {
  return (
    <Badge variant="light" color={colorOf(status)} tt="none">
      {statusText(status)}
    </Badge>
  );
}
