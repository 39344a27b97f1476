import { Alert, Code, List, Stack, Text } from '@mantine/core';
import { useEffect, useMemo, useState } from 'react';
import { buildBody, type FieldTexts, validateField } from '../ui/request/body.ts';
import { fileOf, sharedTexts } from '../ui/request/draft.ts';
import type { ListShape } from '../ui/request/fields.ts';
import { sharedOfFile } from '../ui/request/form-layout.ts';
import { csvColumns, type ParsedCsv, parseCsv, templateColumns } from '../ui/request/table.ts';
import { Fields } from './Field.tsx';
import { FileDrop, TemplateButton } from './FileDrop.tsx';
import { type ModeProps, SubmitBar } from './SubmitBar.tsx';

/** Submits each row of a CSV file as a unit. */
export function FileMode({ jobType, shape, list, draft, busy, submit }: ModeProps & { list: ListShape }) {
  const [file, setFile] = useState(() => fileOf(shape, draft));
  const [table, setTable] = useState<ParsedCsv | null>(null);
  const [own, setOwn] = useState<FieldTexts>(() => sharedTexts(shape, draft));
  const [rejection, setRejection] = useState('');
  const readFile = (chosen: File) => {
    setRejection('');
    setTable(null);
    setFile(chosen);
  };
  useEffect(() => {
    let isCurrent = true;
    void file?.text().then((text) => isCurrent && setTable(parseCsv(text, jobType, list)));
    return () => {
      isCurrent = false;
    };
  }, [file, jobType, list]);
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
      <Fields fields={shared} texts={own} change={(name, value) => setOwn({ ...own, [name]: value })} />
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
        jobType={jobType}
        units={units.length}
        busy={busy}
        body={body}
        disabled={body === null}
        onSubmit={() => body !== null && submit(body).catch(() => {})}
      />
    </Stack>
  );
}
