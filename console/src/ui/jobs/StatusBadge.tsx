import { Badge } from '@mantine/core';
import { formatStatus, statusTone, type Tone } from '../../../../src/present/status.ts';

const colors: Readonly<Record<Tone, string>> = {
  good: 'teal',
  busy: 'blue',
  warning: 'yellow',
  bad: 'red',
  muted: 'gray',
};

/** Status of a job, batch, unit or delivery. */
export function StatusBadge({ status }: { status: string }) {
  return <Badge color={colors[statusTone(status)]}>{formatStatus(status)}</Badge>;
}
