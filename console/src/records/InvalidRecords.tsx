import { useQuery } from '@connectrpc/connect-query';
import { Text } from '@mantine/core';
import { pollMs } from '../app/queries.ts';
import { getQualityMethod } from '../jobs/methods.ts';
import { formatCount } from '../number/format.ts';
import { useSession } from '../session/session.ts';

/** Number of records that violate the schema; nothing if no records were counted. */
export function InvalidRecords({ jobId, ended }: { jobId: string; ended: boolean }) {
  const { role } = useSession();
  const { data } = useQuery(
    getQualityMethod(role),
    { jobId },
    { refetchInterval: ended ? false : pollMs.list },
  );
  if (!data || data.records === 0n) return null;
  const { invalid, records } = data;
  return (
    <Text size="sm" c={invalid > 0n ? 'var(--mantine-color-error)' : 'dimmed'}>
      {formatCount(invalid)} of {formatCount(records)} records violate the schema
    </Text>
  );
}
