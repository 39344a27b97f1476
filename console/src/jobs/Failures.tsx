import { useQuery } from '@connectrpc/connect-query';
import { Accordion, Badge, Code, EmptyState, Group, List, Skeleton, Stack, Text } from '@mantine/core';
import { IconCircleCheck } from '@tabler/icons-react';
import type { FaultGroup, Job } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { isFinalFailure } from '../../../src/contract/final-failure.ts';
import { pollMs } from '../app/queries.ts';
import { ErrorAlert } from '../errors/ErrorAlert.tsx';
import { formatCount, formatUnits } from '../number/format.ts';
import { useSession } from '../session/session.ts';
import { failureGuide } from './failure-guide.ts';
import { listFaultsMethod } from './methods.ts';
import { isNotRun } from './outcome.ts';

/** Failures of a job by error code: what they mean, what to do, and examples. */
export function Failures({ job }: { job: Job }) {
  const { role } = useSession();
  const { data, error, isPending, refetch } = useQuery(
    listFaultsMethod(role),
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
    <Accordion variant="separated" multiple defaultValue={data.faults.slice(0, 1).map(({ code }) => code)}>
      {data.faults.map((group) => (
        <FailureGroup key={group.code} group={group} />
      ))}
    </Accordion>
  );
}

function FailureGroup({ group: { code, units, examples } }: { group: FaultGroup }) {
  const { heading, meaning, action } = failureGuide(code);
  return (
    <Accordion.Item value={code}>
      <Accordion.Control>
        <Group gap="sm">
          <Badge color={isNotRun(code) ? 'gray' : 'red'} variant="light">
            {formatCount(units)}
          </Badge>
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
            {isNotRun(code)
              ? 'These units were not tried.'
              : isFinalFailure(code)
                ? 'A retry leaves these units out: they would fail again.'
                : 'A retry can succeed.'}
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
