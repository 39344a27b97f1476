import { Alert, Button, Group, List, Text } from '@mantine/core';
import { Dropzone, type FileRejection } from '@mantine/dropzone';
import { IconDownload, IconFileTypeCsv } from '@tabler/icons-react';
import { formatBytes } from '../../../src/present/text.ts';
import { csvText } from '../ui/request/table.ts';
import { saveBlob } from '../ui/session/download.ts';

const maxBytes = 8 * 1024 * 1024;

interface FileDropProps {
  file: File | null;
  onFile: (file: File) => void;
  onReject: (reason: string) => void;
}

/** Drop zone and picker for a CSV file of at most 8 MiB. */
export function FileDrop({ file, onFile, onReject }: FileDropProps) {
  return (
    <Dropzone
      onDrop={([dropped]) => dropped && onFile(dropped)}
      onReject={([rejection]) => rejection && onReject(rejectionText(rejection))}
      accept={{
        'text/csv': ['.csv'],
        'text/plain': ['.csv', '.txt'],
        'application/vnd.ms-excel': ['.csv'],
      }}
      maxSize={maxBytes}
      multiple={false}
      p="xl"
      inputProps={{ 'aria-label': 'CSV file' }}
    >
      <Group justify="center" gap="sm" style={{ pointerEvents: 'none' }}>
        <IconFileTypeCsv size={32} aria-hidden />
        <Text size="sm">
          {file
            ? `${file.name}, ${formatBytes(file.size)}`
            : 'Drop a CSV file here or click to choose one'}
        </Text>
      </Group>
    </Dropzone>
  );
}

function rejectionText({ file, errors }: FileRejection): string {
  if (errors.some(({ code }) => code === 'file-invalid-type'))
    return `${file.name} is not a CSV file. Save it as "CSV UTF-8".`;
  return `${file.name}: ${errors.map(({ message }) => message).join(', ')}`;
}

/** Button that downloads a CSV file with only the header. */
export function TemplateButton({ columns }: { columns: readonly string[] }) {
  return (
    <Group>
      <Button
        variant="default"
        size="xs"
        leftSection={<IconDownload size={16} aria-hidden />}
        onClick={() =>
          saveBlob(new Blob([csvText([columns])], { type: 'text/csv' }), 'template.csv')
        }
      >
        Download template
      </Button>
    </Group>
  );
}

/** Problems of a chosen file; nothing without problems. */
export function FileProblems({ problems }: { problems: readonly string[] }) {
  if (problems.length === 0) return null;
  return (
    <Alert color="red" role="alert" title="Fix these problems in the file">
      <List size="sm">
        {problems.map((problem) => (
          <List.Item key={problem}>{problem}</List.Item>
        ))}
      </List>
    </Alert>
  );
}
