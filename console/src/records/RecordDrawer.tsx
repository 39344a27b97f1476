import { useQuery } from '@connectrpc/connect-query';
import { Code, Drawer, Skeleton } from '@mantine/core';
import { JobService, type RecordEntry } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { ErrorAlert } from '../errors/ErrorAlert.tsx';
import { entryTitle } from './columns.tsx';

interface RecordDrawerProps {
  jobId: string;
  /** Entry whose whole record is shown; null closes the drawer. */
  entry: RecordEntry | null;
  close: () => void;
}

/** Drawer with a whole record. */
export function RecordDrawer({ jobId, entry, close }: RecordDrawerProps) {
  return (
    <Drawer
      opened={entry !== null}
      onClose={close}
      position="right"
      size="lg"
      title={entry === null ? '' : entryTitle(entry)}
      closeButtonProps={{ 'aria-label': 'Close record' }}
    >
      {entry !== null && <WholeRecord jobId={jobId} entry={entry} />}
    </Drawer>
  );
}

function WholeRecord({ jobId, entry: { unitIndex, position } }: { jobId: string; entry: RecordEntry }) {
  const { data, error, isPending, refetch } = useQuery(JobService.method.listRecords, {
    jobId,
    unitIndex,
    position,
  });
  if (isPending) return <Skeleton height={240} role="status" aria-label="Loading record" />;
  if (error) return <ErrorAlert error={error} retry={refetch} />;
  const record = data.records[0]?.record;
  return (
    <Code block tabIndex={0} role="region" aria-label="Record" style={{ overflow: 'auto' }}>
      {record === undefined
        ? 'This record does not exist any more.'
        : JSON.stringify(JSON.parse(record), null, 2)}
    </Code>
  );
}
