import { createClient } from '@connectrpc/connect';
import { useQuery } from '@connectrpc/connect-query';
import { IconChevronDown, IconDownload } from '@tabler/icons-react';
import { type Job, JobService } from '../../../../gen/gleaner/job/v1/job_pb.ts';
import { exportFormats } from '../../../../src/present/export-formats.ts';
import { formatBytes, formatUnits } from '../../../../src/present/text.ts';
import { CallButton } from '../../ui/permission/CallButton.tsx';
import { MenuButton } from '../../ui/popup/MenuButton.tsx';
import { saveStream, useDownload } from '../../ui/session/download.ts';
import { transport } from '../../ui/session/transport.ts';
import { isWhole } from './query.ts';
import { useRecordView } from './record-queries.ts';
import { useFileDownload } from './useFileDownload.ts';

/** End of the name of a file beside another one with the same extension. */
const suffixOf = (format: string) => (format === 'csv-bom' ? '-excel' : '');

/**
 * Menu that downloads the records which the page selects, in a format, or the result file of the
 * job. Failed units are not exported.
 */
export function DownloadMenu({ job: { jobId, success } }: { job: Job }) {
  const [view] = useRecordView();
  const records = useDownload();
  const files = useFileDownload(jobId);
  // Loaded by the results as well.
  const { data } = useQuery(JobService.method.listFiles, { jobId });
  const { search, conditions, sort } = view;
  /** Saves the records as a file whose name differs for each action of the menu. */
  const save = async (format: string, suffix: string, columns = '') => {
    const request = {
      jobId,
      format,
      columns,
      search,
      filter: [...conditions],
      sort,
    };
    await saveStream(
      createClient(JobService, transport).exportRecords(request),
      `${jobId}${suffix}`,
    );
  };
  const standardFormats = exportFormats.filter(
    ({ format }) => format.startsWith('csv') || format === 'parquet',
  );
  const resultFiles = (data?.files ?? []).filter(({ scope }) => scope === 'job');
  return (
    <MenuButton
      heading={
        isWhole({ ...view, status: '' }) ? `Records of ${formatUnits(success)}` : 'Matching records'
      }
      actions={[
        ...exportFormats.map(({ format, label, extension }) => ({
          label,
          run: () => void records.download(() => save(format, suffixOf(format) + extension)),
        })),
        ...standardFormats.map(({ format, label, extension }) => ({
          label: `${label}, standard columns`,
          run: () => {
            const suffix = `-standard${suffixOf(format)}${extension}`;
            void records.download(() => save(format, suffix, 'standard'));
          },
        })),
        ...resultFiles.map((file) => ({
          label: `Result file, ${formatBytes(file.bytes)}`,
          run: () => files.download(file),
        })),
      ]}
    >
      <CallButton
        call={JobService.method.listRecords}
        loading={records.busy || files.busy}
        icon={IconDownload}
        rightSection={<IconChevronDown size={16} aria-hidden />}
      >
        Download
      </CallButton>
    </MenuButton>
  );
}
