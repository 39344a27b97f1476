import { useQuery } from '@connectrpc/connect-query';
import {
  Accordion,
  Badge,
  Code,
  EmptyState,
  Group,
  List,
  Skeleton,
  Stack,
  Text,
} from '@mantine/core';
import { IconCircleCheck } from '@tabler/icons-react';
import { type FaultGroup, type Job, JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { isFinalFailure } from '../../../src/contract/final-failure.ts';
import { failureGuide } from '../../../src/present/failure-guide.ts';
import { isNotRun } from '../../../src/present/job.ts';
import { formatCount, formatUnits } from '../../../src/present/text.ts';
import { ErrorAlert } from '../ui/errors/ErrorAlert.tsx';
import { pollMs } from '../ui/queries.ts';

/** Failures of a job by error code: what they mean, what to do, and examples. */
export function Failures({ job }: { job: Job }) {
  const { data, error, isPending, refetch } = useQuery(
    JobService.method.listFaults,
    { jobId: job.jobId },
    { refetchInterval: job.ended ? false : pollMs.list },
  );
  if (isPending) return <Skeleton height={80} role="status" aria-label="Loading failures" />;
  if (error) return <ErrorAlert error={error} retry={refetch} />;
  if (data.faults.length === 0) {
    return (
      <EmptyState
        icon={<IconCircleCheck />}
        title={job.ended ? 'No failures' : 'No failures so far'}
        py="lg"
      />
    );
  }
  return (
    <Accordion
      variant="separated"
      multiple
      defaultValue={data.faults.slice(0, 1).map(({ code }) => code)}
    >
      {data.faults.map((group) => (
        <FailureGroup key={group.code} group={group} />
      ))}
    </Accordion>
  );
}

/** Returns the sentence about a retry of units that failed with a code. */
function retryText(code: string): string {
  if (isNotRun(code)) return 'These units were not tried.';
  if (isFinalFailure(code)) return 'A retry leaves these units out: they would fail again.';
  return 'A retry can succeed.';
}

function FailureGroup({ group: { code, units, examples } }: { group: FaultGroup }) {
  const { heading, meaning, action } = failureGuide(code);
  return (
    <Accordion.Item value={code}>
      <Accordion.Control>
        <Group gap="sm">
          <Badge color={isNotRun(code) ? 'gray' : 'red'}>{formatCount(units)}</Badge>
          <Text fw={500} size="sm">
            {heading}
          </Text>
          <Code>{code}</Code>
        </Group>
      </Accordion.Control>
      <Accordion.Panel>
        <Stack gap="xs">
          <Text size="sm">
            {meaning} {action}
          </Text>
          <Text size="sm" c="dimmed">
            {retryText(code)}
          </Text>
          <Text size="sm" fw={500}>
            {units > examples.length
              ? `First ${examples.length} of ${formatUnits(units)}`
              : formatUnits(units)}
          </Text>
          <List size="sm" spacing={4}>
            {examples.map(({ index, key, region, message }) => (
              <List.Item key={index} style={{ overflowWrap: 'anywhere' }}>
                <Code>{key}</Code> {region === '' ? '' : `(${region}) `}
                {message}
              </List.Item>
            ))}
          </List>
        </Stack>
      </Accordion.Panel>
    </Accordion.Item>
  );
}
