import { useQuery } from '@connectrpc/connect-query';
import { Accordion, Badge, Code, EmptyState, Group, List, Skeleton, Text } from '@mantine/core';
import { IconMoodSmile } from '@tabler/icons-react';
import type { Job } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { pollMs } from '../app/queries.ts';
import { ErrorAlert } from '../errors/ErrorAlert.tsx';
import { formatCount } from '../number/format.ts';
import { useSession } from '../session/session.ts';
import { listFaultsMethod } from './methods.ts';

/** Failures of a job by error code, with examples. */
export function Failures({ job }: { job: Job }) {
  const { role } = useSession();
  const { data, error, isPending, refetch } = useQuery(
    listFaultsMethod(role),
    { jobId: job.jobId },
    { refetchInterval: job.ended ? false : pollMs.list },
  );
  if (isPending) return <Skeleton height={80} />;
  if (error) return <ErrorAlert error={error} retry={refetch} />;
  if (data.faults.length === 0) {
    return (
      <EmptyState icon={<IconMoodSmile />} title={job.ended ? 'No failures' : 'No failures so far'} py="lg" />
    );
  }
  return (
    <Accordion variant="separated" multiple defaultValue={data.faults.slice(0, 1).map(({ code }) => code)}>
      {data.faults.map(({ code, units, examples }) => (
        <Accordion.Item key={code} value={code}>
          <Accordion.Control>
            <Group gap="sm">
              <Badge color="red" variant="light">
                {formatCount(units)}
              </Badge>
              <Text fw={500} size="sm" ff="monospace">
                {code}
              </Text>
            </Group>
          </Accordion.Control>
          <Accordion.Panel>
            <List size="sm" spacing={4}>
              {examples.map(({ index, key, region, message }) => (
                <List.Item key={index} style={{ overflowWrap: 'anywhere' }}>
                  <Code>{key}</Code> {region === '' ? '' : `(${region}) `}
                  {message}
                </List.Item>
              ))}
            </List>
          </Accordion.Panel>
        </Accordion.Item>
      ))}
    </Accordion>
  );
}
