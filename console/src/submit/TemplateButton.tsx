import { Button, Group } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { csvText } from '../ui/request/table.ts';
import { saveBlob } from '../ui/session/download.ts';

/** Button that downloads a CSV file with only the header. */
export function TemplateButton({ columns }: { columns: readonly string[] }) {
  return (
    <Group>
      <Button
        variant="default"
        size="xs"
        leftSection={<IconDownload size={16} aria-hidden />}
        onClick={() => saveBlob(new Blob([csvText([columns])], { type: 'text/csv' }), 'template.csv')}
      >
        Download template
      </Button>
    </Group>
  );
}
