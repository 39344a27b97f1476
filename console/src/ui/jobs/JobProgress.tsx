import { Group, Progress, Text } from '@mantine/core';
import type { Job } from '../../../../gen/gleaner/job/v1/job_pb.ts';
import { progressText } from '../../../../src/present/job.ts';
import classes from './progress.module.css';

/**
 * Progress bar of a job with succeeded, failed and outstanding units, and units that never ran in
 * grey.
 */
export function JobProgress({ job }: { job: Job }) {
  const { success, failed, notRun, total } = job;
  const share = (units: number) => (total === 0 ? 0 : (units / total) * 100);
  return (
    <Group gap="xs" wrap="nowrap">
      <Progress.Root size="md" w={60} aria-hidden>
        <Progress.Section
          value={share(success)}
          color="teal"
          animated={!job.ended && success > 0}
        />
        <Progress.Section value={share(failed - notRun)} color="red" />
      </Progress.Root>
      <Text size="xs" c="dimmed" className={classes.counts!}>
        {progressText(job)}
      </Text>
    </Group>
  );
}
