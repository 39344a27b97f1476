import { Alert } from '@mantine/core';
import { IconHourglass } from '@tabler/icons-react';
import { formatLocalTime } from '../time/format.ts';

/** Shows what a job waits for and, if it is known and not yet due, when it continues. */
export function Waiting({ waitingFor }: { waitingFor: string }) {
  const [, reason = waitingFor, time] = /^(.*), next try (\S+Z)$/.exec(waitingFor) ?? [];
  const next = time === undefined ? null : new Date(time);
  return (
    <Alert color="yellow" icon={<IconHourglass />} title="Waiting">
      {reason}
      {next !== null && next.getTime() > Date.now() && `. Continues ${formatLocalTime(next)}.`}
    </Alert>
  );
}
