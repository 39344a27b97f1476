import { Code, Group, Text } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { JobService, type ResultFile } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { formatBytes, formatCount } from '../../../src/present/text.ts';
import { type ListQuery, ListTable } from '../ui/list/ListTable.tsx';
import type { ListColumn } from '../ui/list/list-content.ts';
import { CallButton } from '../ui/permission/CallButton.tsx';
import { useFileDownload } from './records/useFileDownload.ts';

function DownloadButton({ jobId, file }: { jobId: string; file: ResultFile }) {
  const { download, busy } = useFileDownload(jobId);
  return (
    <CallButton
      // Operators need the role that reads records.
      call={JobService.method.listRecords}
      size="xs"
      variant="default"
      loading={busy}
      onClick={() => download(file)}
      icon={IconDownload}
      style={{ flexShrink: 0 }}
      aria-label={`Download ${file.name}`}
    >
      Download
    </CallButton>
  );
}

const scopes: Record<string, string> = { job: 'Whole job', batch: 'Batch', unit: 'Unit' };

const columns: ListColumn<ResultFile>[] = [
  {
    title: 'File',
    cell: ({ name }) => (
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {name}
      </Text>
    ),
  },
  {
    title: 'Scope',
    cell: ({ scope, index, key }) =>
      scope === 'job'
        ? scopes.job
        : `${scopes[scope] ?? scope} ${index + 1}${key ? `: ${key}` : ''}`,
  },
  { title: 'Entries', align: 'right', cell: ({ items }) => formatCount(items) },
  { title: 'Size', align: 'right', cell: ({ bytes }) => formatBytes(bytes) },
  {
    title: 'SHA-256',
    cell: ({ sha256 }) =>
      sha256 === '' ? null : <Code title={sha256}>{sha256.slice(0, 12)}…</Code>,
  },
];

const download = (jobId: string): ListColumn<ResultFile> => ({
  title: 'Download',
  align: 'right',
  cell: (file) => <DownloadButton jobId={jobId} file={file} />,
});

/** File on a narrow screen: its name and size beside its download. */
function FileBrief({ jobId, file }: { jobId: string; file: ResultFile }) {
  return (
    <Group justify="space-between" gap="xs" wrap="nowrap">
      <Text size="xs" c="dimmed" miw={0} style={{ overflowWrap: 'anywhere' }}>
        {file.name}, {formatBytes(file.bytes)}
      </Text>
      <DownloadButton jobId={jobId} file={file} />
    </Group>
  );
}

interface FilesProps {
  jobId: string;
  files: readonly ResultFile[];
  query: ListQuery;
}

export function Files({ jobId, files, query }: FilesProps) {
  return (
    <ListTable
      label="Files"
      rows={files}
      keyOf={({ scope, index, name }) => `${scope} ${index} ${name}`}
      query={query}
      columns={[...columns, download(jobId)]}
      brief={(file) => <FileBrief jobId={jobId} file={file} />}
      empty={{
        title: 'No files yet',
        description: 'Files appear when the first results are complete.',
      }}
    />
  );
}
