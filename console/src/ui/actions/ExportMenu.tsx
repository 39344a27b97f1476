import { Button } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { exportFormats } from '../../../../src/present/export-formats.ts';
import { MenuButton } from '../popup/MenuButton.tsx';
import { useDownload } from '../session/download.ts';

interface ExportMenuProps {
  /**
   * Names of the formats, of those in which records are exported; by default CSV and JSON Lines.
   */
  formats?: readonly string[];
  /** Saves the data in a format. */
  save: (format: string) => Promise<void>;
  label?: string;
}

/** Menu that downloads data in a format. */
export function ExportMenu({
  formats = ['csv', 'jsonl'],
  save,
  label = 'Export',
}: ExportMenuProps) {
  const { download, busy } = useDownload();
  return (
    <MenuButton
      actions={exportFormats
        .filter(({ format }) => formats.includes(format))
        .map(({ format, label: name }) => ({
          label: name,
          run: () => void download(() => save(format)),
        }))}
    >
      <Button variant="default" loading={busy} leftSection={<IconDownload size={16} aria-hidden />}>
        {label}
      </Button>
    </MenuButton>
  );
}
