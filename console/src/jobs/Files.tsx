import { createClient } from '@connectrpc/connect';
import { Code, Text, Tooltip } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { JobService, type ResultFile } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { type ListQuery, ListTable } from '../list/ListTable.tsx';
import type { Column } from '../list/list-content.ts';
import { formatBytes, formatCount } from '../number/format.ts';
import { CallButton } from '../permission/CallButton.tsx';
import { downloadLink } from '../session/download.ts';
import { useSession } from '../session/session.ts';
import { transport } from '../session/transport.ts';
import { useDownload } from '../session/useDownload.ts';

/** Button that downloads a file. */
function DownloadButton({ jobId, file }: { jobId: string; file: ResultFile }) {
  const { role } = useSession();
  const { download, busy } = useDownload();
  const save = async () => {
    // The service logs each link that an operator creates.
    const link =
      role === 'operator'
        ? (await createClient(OperatorService, transport).createFileLink({ jobId, name: file.name })).file
        : file;
    await downloadLink(link?.downloadUrl ?? '', file.name);
  };
  return (
    <CallButton
      call={role === 'operator' ? OperatorService.method.createFileLink : JobService.method.listFiles}
      size="xs"
      variant="default"
      loading={busy}
      onClick={() => void download(save)}
      leftSection={<IconDownload size={16} aria-hidden />}
      aria-label={`Download ${file.name}`}
    >
      Download
    </CallButton>
  );
}

const scopes: Record<string, string> = { job: 'Whole job', batch: 'Batch', unit: 'Unit' };

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
    title: 'Scope',
    cell: ({ scope, index, key }) =>
      scope === 'job' ? scopes.job : `${scopes[scope] ?? scope} ${index + 1}${key ? `: ${key}` : ''}`,
  },
  { title: 'Records', align: 'right', cell: ({ items }) => formatCount(items) },
  { title: 'Size', align: 'right', cell: ({ bytes }) => formatBytes(bytes) },
  {
    title: 'SHA-256',
    cell: ({ sha256 }) =>
      sha256 === '' ? null : (
        <Tooltip label={sha256} multiline>
          <Code>{sha256.slice(0, 12)}…</Code>
        </Tooltip>
      ),
  },
];

/** Result files of a job. */
export function Files({
  jobId,
  files,
  query,
}: {
  jobId: string;
  files: readonly ResultFile[];
  query: ListQuery;
}) {
  const download: Column<ResultFile> = {
    title: 'Download',
    align: 'right',
    cell: (file) => <DownloadButton jobId={jobId} file={file} />,
  };
  return (
    <ListTable
      label="Files"
      rows={files}
      keyOf={({ scope, index, name }) => `${scope} ${index} ${name}`}
      query={query}
      columns={[...columns, download]}
      empty={{ title: 'No files yet', description: 'Files appear when the first results are complete.' }}
    />
  );
}
