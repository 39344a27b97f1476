import { Group, Text } from '@mantine/core';
import { Dropzone } from '@mantine/dropzone';
import { IconFileTypeCsv } from '@tabler/icons-react';
import { bytesText } from '../number/text.ts';

const mostBytes = 8 * 1024 * 1024;

interface FileDropProps {
  file: File | null;
  choose: (file: File) => void;
  refuse: (reason: string) => void;
}

/** Takes a CSV file, dropped or chosen. */
export function FileDrop({ file, choose, refuse }: FileDropProps) {
  return (
    <Dropzone
      onDrop={([dropped]) => dropped && choose(dropped)}
      onReject={([rejection]) =>
        refuse(`${rejection?.file.name}: ${rejection?.errors.map(({ message }) => message).join(', ')}`)
      }
      accept={{ 'text/csv': ['.csv'], 'text/plain': ['.csv', '.txt'], 'application/vnd.ms-excel': ['.csv'] }}
      maxSize={mostBytes}
      multiple={false}
      p="xl"
      inputProps={{ 'aria-label': 'CSV file' }}
    >
      <Group justify="center" gap="sm" style={{ pointerEvents: 'none' }}>
        <IconFileTypeCsv size={32} aria-hidden />
        <Text size="sm">
          {file ? `${file.name}, ${bytesText(file.size)}` : 'Drop a CSV file here, or choose one.'}
        </Text>
      </Group>
    </Dropzone>
  );
}
