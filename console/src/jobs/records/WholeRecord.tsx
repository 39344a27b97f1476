import { useQuery } from '@connectrpc/connect-query';
import { Button, Code, Group, Skeleton, Stack } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { JobService } from '../../../../gen/gleaner/job/v1/job_pb.ts';
import { ErrorAlert } from '../../ui/errors/ErrorAlert.tsx';
import { saveBlob } from '../../ui/session/download.ts';
import { useSession } from '../../ui/session/session.ts';
import { recordQueryOptions } from './record-queries.ts';

interface WholeRecordProps {
  jobId: string;
  unitIndex: number;
  position: number;
}

/** A whole record, with a download. */
export function WholeRecord({ jobId, unitIndex, position }: WholeRecordProps) {
  const { role } = useSession();
  const { data, error, isPending, refetch } = useQuery(
    JobService.method.listRecords,
    { jobId, unitIndex, position },
    recordQueryOptions(role, false),
  );
  if (isPending) return <Skeleton height={240} role="status" aria-label="Loading record" />;
  if (error) return <ErrorAlert error={error} retry={refetch} />;
  const record = data.records[0]?.record;
  if (record === undefined) return 'This record does not exist any more.';
  const text = `${JSON.stringify(JSON.parse(record), null, 2)}\n`;
  const save = () => saveBlob(new Blob([text], { type: 'application/json' }), `${jobId}.json`);
  return (
    <Stack>
      <Group>
        <Button variant="default" leftSection={<IconDownload size={16} aria-hidden />} onClick={save}>
          Download record
        </Button>
      </Group>
      <Code block tabIndex={0} role="region" aria-label="Record" style={{ overflow: 'auto' }}>
        {text}
      </Code>
    </Stack>
  );
}
