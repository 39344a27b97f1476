import { Alert, Button, Code, Group, List, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { countText } from '../number/text.ts';
import { bodyOf, problemOf, type Texts } from './body.ts';
import { Field } from './Field.tsx';
import { FileDrop } from './FileDrop.tsx';
import type { ListShape, RequestShape } from './fields.ts';
import { columnsOf, type ReadTable, readTable } from './table.ts';

interface FileModeProps {
  shape: RequestShape;
  list: ListShape;
  busy: boolean;
  submit: (body: string) => Promise<void>;
}

/** Submits the rows of a CSV file as units. */
export function FileMode({ shape, list, busy, submit }: FileModeProps) {
  const [file, setFile] = useState<File | null>(null);
  const [table, setTable] = useState<ReadTable | null>(null);
  const [own, setOwn] = useState<Texts>({});
  const [refusal, refuse] = useState('');
  const choose = async (chosen: File) => {
    refuse('');
    setFile(chosen);
    setTable(readTable(await chosen.text(), list));
  };
  const problems = [...(refusal === '' ? [] : [refusal]), ...(table?.problems ?? [])];
  const units = table?.units ?? [];
  const ready = units.length > 0 && shape.fields.every((field) => !problemOf(field, own[field.name] ?? ''));
  return (
    <Stack>
      <Text size="sm">
        A header, then a unit a row. Columns: <Code>{columnsOf(list).join(', ')}</Code>
        {list.fields ? ' (* must be there)' : ''}
      </Text>
      {shape.fields.map((field) => (
        <Field
          key={field.name}
          field={field}
          value={own[field.name] ?? ''}
          change={(value) => setOwn({ ...own, [field.name]: value })}
        />
      ))}
      <FileDrop file={file} choose={choose} refuse={refuse} />
      {problems.length > 0 && (
        <Alert color="red" role="alert" title="The file cannot be submitted">
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
          onClick={() => submit(JSON.stringify(bodyOf(shape, own, units))).catch(() => {})}
        >
          {units.length > 0 ? `Submit ${countText(units.length)}` : 'Submit'}
        </Button>
      </Group>
    </Stack>
  );
}
