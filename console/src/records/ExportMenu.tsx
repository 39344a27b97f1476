import { createClient } from '@connectrpc/connect';
import { Button, Menu } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { saveStream } from '../session/download.ts';
import { useSession } from '../session/session.ts';
import { transport } from '../session/transport.ts';
import { useDownload } from '../session/useDownload.ts';
import { exportFormats, type RecordFilter } from './query.ts';

/** Menu that downloads the selected records in a format. Failed units are not exported. */
export function ExportMenu({ jobId, filter }: { jobId: string; filter: RecordFilter }) {
  const { role } = useSession();
  const { download, busy } = useDownload();
  const { search, conditions, sort } = filter;
  const save = async (format: string, extension: string) => {
    const request = { jobId, format, search, filter: [...conditions], sort };
    const records =
      role === 'operator'
        ? createClient(OperatorService, transport).exportRecords(request)
        : createClient(JobService, transport).exportRecords(request);
    await saveStream(records, `${jobId}${extension}`);
  };
  return (
    <Menu position="bottom-start">
      <Menu.Target>
        <Button variant="default" loading={busy} leftSection={<IconDownload size={16} aria-hidden />}>
          Export
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {exportFormats.map(({ format, label, extension }) => (
          <Menu.Item key={format} onClick={() => void download(() => save(format, extension))}>
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
