import { Stack, Text } from '@mantine/core';
import { useMemo, useState } from 'react';
import { InlineCode } from '../ui/layout/InlineCode.tsx';
import { type FieldTexts, parseValues } from '../ui/request/body.ts';
import { fileOf, sharedTexts } from '../ui/request/draft.ts';
import { checkCsv } from '../ui/request/table.ts';
import { Fields } from './Field.tsx';
import { FileDrop, FileProblems, TemplateButton } from './FileDrop.tsx';
import { type ModeProps, SubmitBar } from './SubmitBar.tsx';
import { useFileBytes } from './useFileBytes.ts';

/** Uploads a file, for job types that take one. */
export function UploadMode({ jobType, shape, draft, busy, submit }: ModeProps<FormData>) {
  const [file, setFile] = useState(() => fileOf(shape, draft));
  const [texts, setTexts] = useState<FieldTexts>(() => sharedTexts(shape, draft));
  const [rejection, setRejection] = useState('');
  const bytes = useFileBytes(file);
  const { rows, problems } = useMemo(
    () => (bytes === null ? { rows: null, problems: [] } : checkCsv(bytes, jobType, texts)),
    [bytes, jobType, texts],
  );
  const fileField = shape.fields.find(({ type }) => type === 'file');
  const textFields = shape.fields.filter(({ type }) => type !== 'file');
  const body = useMemo(() => {
    if (!file || !fileField) return null;
    const form = new FormData();
    const fields = shape.fields.filter(({ type }) => type !== 'file');
    for (const [name, value] of Object.entries(parseValues(fields, texts)))
      form.set(name, String(value));
    form.set(fileField.name, file, file.name);
    return form;
  }, [file, fileField, shape, texts]);
  return (
    <Stack>
      <Text size="sm">
        <InlineCode text={fileField?.help ?? ''} />
      </Text>
      {fileField && fileField.columns.length > 0 && <TemplateButton columns={fileField.columns} />}
      <FileDrop
        file={file}
        onFile={(chosen) => {
          setRejection('');
          setFile(chosen);
        }}
        onReject={setRejection}
      />
      <FileProblems problems={rejection === '' ? problems : [rejection]} />
      <Fields
        fields={textFields}
        texts={texts}
        change={(name, value) => setTexts({ ...texts, [name]: value })}
      />
      <SubmitBar
        jobType={jobType}
        units={rows}
        busy={busy}
        body={body}
        disabled={body === null}
        onSubmit={() => body !== null && submit(body).catch(() => {})}
      />
    </Stack>
  );
}
