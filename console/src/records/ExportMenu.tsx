import { Button, Menu } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useState } from 'react';
import { showError } from '../errors/toast.ts';
import { downloadRest } from '../session/download.ts';
import { exportFormats, exportPath, type RecordFilter } from './query.ts';

/** Menu that downloads the selected records in a format. */
export function ExportMenu({ jobId, filter }: { jobId: string; filter: RecordFilter }) {
  const [busy, setBusy] = useState(false);
  const save = async (format: string, extension: string) => {
    setBusy(true);
    try {
      await downloadRest(exportPath(jobId, format, filter), `${jobId}${extension}`);
    } catch (error) {
      showError(error);
    } finally {
      setBusy(false);
    }
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
          <Menu.Item key={format} onClick={() => void save(format, extension)}>
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
