import { Button, Code, Group, Skeleton, Stack, Text } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { Job } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { ErrorAlert } from '../errors/ErrorAlert.tsx';
import { showError } from '../errors/toast.ts';
import { saveBlob } from '../session/download.ts';
import { readLines } from '../session/lines.ts';
import { useSession } from '../session/session.ts';
import { openResults } from './open-results.ts';

/** Maximum records shown; the download has all. */
const maxRecords = 20;

/** Line of the result stream. */
interface ResultLine {
  index: number;
  key: string;
  record?: unknown;
}

/** Records of an ended job without result files, with a download. */
export function Records({ job: { jobId, success } }: { job: Job }) {
  const { role } = useSession();
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ['results', jobId],
    queryFn: async () => (await readLines(await openResults(role, jobId), maxRecords)) as ResultLine[],
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (isPending) return <Skeleton height={160} role="status" aria-label="Loading results" />;
  if (error) return <ErrorAlert error={error} retry={refetch} />;
  const single = success === 1 ? data[0] : undefined;
  const downloadAll = async () =>
    saveBlob(await new Response(await openResults(role, jobId)).blob(), `${jobId}.jsonl`);
  const download = () => {
    if (single) {
      const json = `${JSON.stringify(single.record, null, 2)}\n`;
      saveBlob(new Blob([json], { type: 'application/json' }), `${jobId}.json`);
    } else void downloadAll().catch(showError);
  };
  return (
    <Stack>
      <Group>
        <Button leftSection={<IconDownload size={16} aria-hidden />} onClick={download}>
          {single ? 'Download record' : 'Download all records'}
        </Button>
        {success > data.length && (
          <Text size="sm" c="dimmed">
            Showing the first {data.length} of {success} records
          </Text>
        )}
      </Group>
      {data.map(({ index, key, record }) => (
        <Stack key={index} gap={4}>
          <Text size="sm" fw={500} style={{ overflowWrap: 'anywhere' }}>
            {key}
          </Text>
          <Code
            block
            tabIndex={0}
            role="region"
            aria-label={`Record ${key}`}
            mah={480}
            style={{ overflow: 'auto' }}
          >
            {JSON.stringify(record, null, 2)}
          </Code>
        </Stack>
      ))}
    </Stack>
  );
}
