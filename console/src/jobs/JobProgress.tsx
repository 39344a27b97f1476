import { Progress, Text } from '@mantine/core';
import type { Job } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { countText } from '../number/text.ts';

/** How far a job has come: done, failed and outstanding units. */
export function JobProgress({ job, size = 'lg' }: { job: Job; size?: 'sm' | 'lg' }) {
  const { success, failed, total } = job;
  const share = (units: number) => (total === 0 ? 0 : (units / total) * 100);
  const text = `${countText(success + failed)} of ${countText(total)}${failed > 0 ? `, ${countText(failed)} failed` : ''}`;
  return (
    <>
      <Progress.Root size={size} miw={120} aria-hidden>
        <Progress.Section value={share(success)} color="teal" animated={!job.ended && success > 0} />
        <Progress.Section value={share(failed)} color="red" />
      </Progress.Root>
      <Text size="xs" c="dimmed">
        {text}
      </Text>
    </>
  );
}
