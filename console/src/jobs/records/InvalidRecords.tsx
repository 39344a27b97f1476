import { useQuery } from '@connectrpc/connect-query';
import { Text } from '@mantine/core';
import { JobService } from '../../../../gen/gleaner/job/v1/job_pb.ts';
import { formatCount } from '../../../../src/present/text.ts';
import { pollMs } from '../../ui/queries.ts';

/** Number of records with missing or wrong fields; nothing if no records were counted. */
export function InvalidRecords({ jobId, ended }: { jobId: string; ended: boolean }) {
  const { data } = useQuery(
    JobService.method.getQuality,
    { jobId },
    { refetchInterval: ended ? false : pollMs.list },
  );
  const { invalid = 0n, records } = data ?? {};
  if (records === 0n) return null;
  return (
    // Its line is kept free until the numbers are known, so that nothing moves.
    <Text size="xs" mih={18} c={invalid > 0n ? 'var(--mantine-color-error)' : 'dimmed'}>
      {records !== undefined &&
        `${formatCount(invalid)} of ${formatCount(records)} records have missing or wrong fields`}
    </Text>
  );
}
