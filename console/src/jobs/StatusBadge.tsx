import { Badge } from '@mantine/core';
import { formatStatus, statusColor } from './status.ts';

/** Status of a job, batch, unit or delivery. */
export function StatusBadge({ status }: { status: string }) {
  return (
    <Badge variant="light" color={statusColor(status)} tt="none">
      {formatStatus(status)}
    </Badge>
  );
}
