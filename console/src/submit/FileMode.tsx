import { Alert, Button, Code, Group, List, Stack, Text } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useState } from 'react';
import { formatUnits } from '../number/format.ts';
import { saveBlob } from '../session/download.ts';
import { buildBody, type FieldTexts, validateField } from './body.ts';
import { Field } from './Field.tsx';
import { FileDrop } from './FileDrop.tsx';
import type { ListShape, RequestShape } from './fields.ts';
import { csvColumns, csvTemplate, type ParsedCsv, parseCsv } from './table.ts';

interface FileModeProps {
  shape: RequestShape;
  list: ListShape;
  busy: boolean;
  submit: (body: string) => Promise<void>;
}

/** Submits each row of a CSV file as a unit. */
export function FileMode({ shape, list, busy, submit }: FileModeProps) {
  const [file, setFile] = useState<File | null>(null);
  const [table, setTable] = useState<ParsedCsv | null>(null);
  const [own, setOwn] = useState<FieldTexts>({});
  const [rejection, setRejection] = useState('');
  const readFile = async (chosen: File) => {
    setRejection('');
    setFile(chosen);
    setTable(parseCsv(await chosen.text(), list));
  };
  const problems = [...(rejection === '' ? [] : [rejection]), ...(table?.problems ?? [])];
  const units = table?.units ?? [];
  const ready =
    units.length > 0 && shape.fields.every((field) => !validateField(field, own[field.name] ?? ''));
  return (
    <Stack>
      <Text size="sm">
        The first row is the header. Columns: <Code>{csvColumns(list).join(', ')}</Code>
        {list.fields ? ' (* required)' : ''}
      </Text>
      <Group>
        <Button
          variant="default"
          size="xs"
          leftSection={<IconDownload size={16} aria-hidden />}
          onClick={() => saveBlob(new Blob([csvTemplate(list)], { type: 'text/csv' }), 'template.csv')}
        >
          Download template
        </Button>
      </Group>
      {shape.fields.map((field) => (
        <Field
          key={field.name}
          field={field}
          value={own[field.name] ?? ''}
          change={(value) => setOwn({ ...own, [field.name]: value })}
        />
      ))}
      <FileDrop file={file} onFile={readFile} onReject={setRejection} />
      {problems.length > 0 && (
        <Alert color="red" role="alert" title="Fix these problems in the file">
          <List size="sm">
            {problems.map((problem) => (
              <List.Item key={problem}>{problem}</List.Item>
            ))}
          </List>
        </Alert>
      )}
      <Group>
        <Button
          disabled={!ready}
          loading={busy}
          onClick={() => submit(JSON.stringify(buildBody(shape, own, units))).catch(() => {})}
        >
          {units.length > 0 ? `Submit ${formatUnits(units.length)}` : 'Submit'}
        </Button>
      </Group>
    </Stack>
  );
}
