import { Button, Group } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { saveBlob } from '../session/download.ts';
import { csvTemplate } from './table.ts';

/** Button that downloads a CSV file with only the header. */
export function TemplateButton({ columns }: { columns: readonly string[] }) {
  return (
    <Group>
      <Button
        variant="default"
        size="xs"
        leftSection={<IconDownload size={16} aria-hidden />}
        onClick={() => saveBlob(new Blob([csvTemplate(columns)], { type: 'text/csv' }), 'template.csv')}
      >
        Download template
      </Button>
    </Group>
  );
}
