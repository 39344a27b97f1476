import { useQuery } from '@connectrpc/connect-query';
import { Text } from '@mantine/core';
import { JobService } from '../../../../gen/gleaner/job/v1/job_pb.ts';
import { formatCount } from '../../../../src/present/text.ts';
import { pollMs } from '../../ui/queries.ts';

/** Number of records that violate the schema; nothing if no records were counted. */
export function InvalidRecords({ jobId, ended }: { jobId: string; ended: boolean }) {
  const { data } = useQuery(
    JobService.method.getQuality,
    { jobId },
    { refetchInterval: ended ? false : pollMs.list },
  );
  if (!data || data.records === 0n) return null;
  const { invalid, records } = data;
  return (
    <Text size="xs" c={invalid > 0n ? 'var(--mantine-color-error)' : 'dimmed'}>
      {formatCount(invalid)} of {formatCount(records)} records violate the schema
    </Text>
  );
}
