import { Alert, Code, List, Stack, Text } from '@mantine/core';
import { useMemo, useState } from 'react';
import type { Offer } from '../offers/offers.ts';
import { buildBody, type FieldTexts, validateField } from './body.ts';
import { Field } from './Field.tsx';
import { FileDrop } from './FileDrop.tsx';
import type { ListShape, RequestShape } from './fields.ts';
import { sharedOfFile } from './form-layout.ts';
import { SubmitBar } from './SubmitBar.tsx';
import { TemplateButton } from './TemplateButton.tsx';
import { csvColumns, type ParsedCsv, parseCsv, templateColumns } from './table.ts';

interface FileModeProps {
  offer: Offer;
  shape: RequestShape;
  list: ListShape;
  busy: boolean;
  submit: (body: string) => Promise<void>;
}

/** Submits each row of a CSV file as a unit. */
export function FileMode({ offer, shape, list, busy, submit }: FileModeProps) {
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
  const shared = sharedOfFile(shape, units);
  const ready = units.length > 0 && shared.every((field) => !validateField(field, own[field.name] ?? ''));
  const body = useMemo(
    () => (ready ? JSON.stringify(buildBody(shape, own, table?.units ?? [])) : null),
    [ready, shape, own, table],
  );
  return (
    <Stack>
      <Text size="sm">
        The first row is the header. Columns: <Code>{csvColumns(list).join(', ')}</Code>
        {list.fields ? ' (* required)' : ''}
      </Text>
      <TemplateButton columns={templateColumns(list)} />
      {shared.map((field) => (
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
      <SubmitBar
        offer={offer}
        units={units.length}
        busy={busy}
        body={body}
        disabled={body === null}
        onSubmit={() => body !== null && submit(body).catch(() => {})}
      />
    </Stack>
  );
}
