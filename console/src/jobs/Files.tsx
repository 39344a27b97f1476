import { useQuery } from '@connectrpc/connect-query';
import { Button, Code, Text, Tooltip } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useState } from 'react';
import { type Job, JobService, type ResultFile } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { every } from '../app/queries.ts';
import { tellFault } from '../fault/tell.ts';
import { type Column, ListTable } from '../list/ListTable.tsx';
import { bytesText, countText } from '../number/text.ts';
import { saveFromLink } from '../session/save.ts';

/** Downloads a file with the session's key, which some links need. */
function Download({ file }: { file: ResultFile }) {
  const [busy, setBusy] = useState(false);
  const save = async () => {
    setBusy(true);
    try {
      await saveFromLink(file.downloadUrl, file.name);
    } catch (error) {
      tellFault(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Button
      size="xs"
      variant="default"
      loading={busy}
      onClick={save}
      leftSection={<IconDownload size={16} aria-hidden />}
      aria-label={`Download ${file.name}`}
    >
      Download
    </Button>
  );
}

const of: Record<string, string> = { job: 'Whole job', batch: 'Batch', unit: 'Unit' };

const columns: Column<ResultFile>[] = [
  {
    title: 'File',
    cell: ({ name }) => (
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {name}
      </Text>
    ),
  },
  {
    title: 'Of',
    cell: ({ scope, index, key }) =>
      scope === 'job' ? of.job : `${of[scope] ?? scope} ${index + 1}${key ? `: ${key}` : ''}`,
  },
  { title: 'Records', align: 'right', cell: ({ items }) => countText(items) },
  { title: 'Size', align: 'right', cell: ({ bytes }) => bytesText(bytes) },
  {
    title: 'SHA-256',
    cell: ({ sha256 }) =>
      sha256 === '' ? null : (
        <Tooltip label={sha256} multiline>
          <Code>{sha256.slice(0, 12)}…</Code>
        </Tooltip>
      ),
  },
  { title: 'Download', align: 'right', cell: (file) => <Download file={file} /> },
];

/** Result files of the caller's own job. */
export function Files({ job }: { job: Job }) {
  const query = useQuery(
    JobService.method.listFiles,
    { jobId: job.jobId },
    // A file may be compiled a moment after the job has ended.
    { refetchInterval: ({ state }) => (job.ended && state.data?.files.length ? false : every.watching) },
  );
  return (
    <ListTable
      label="Files"
      rows={query.data?.files ?? []}
      keyOf={({ scope, index, name }) => `${scope} ${index} ${name}`}
      query={query}
      columns={columns}
      empty={{ title: 'No files yet', about: 'Files are there as soon as the first results are whole.' }}
    />
  );
}
