import { Stack, Text } from '@mantine/core';
import { useMemo, useState } from 'react';
import type { Offer } from '../offers/offers.ts';
import { type FieldTexts, parseValues } from './body.ts';
import { Field } from './Field.tsx';
import { FileDrop } from './FileDrop.tsx';
import type { RequestShape } from './fields.ts';
import { InlineCode } from './InlineCode.tsx';
import { SubmitBar } from './SubmitBar.tsx';
import { TemplateButton } from './TemplateButton.tsx';
import { countRows } from './table.ts';

interface UploadModeProps {
  offer: Offer;
  shape: RequestShape;
  busy: boolean;
  submit: (body: FormData) => Promise<void>;
}

/** Uploads a file, for job types that take one. */
export function UploadMode({ offer, shape, busy, submit }: UploadModeProps) {
  const [file, setFile] = useState<File | null>(null);
  const [texts, setTexts] = useState<FieldTexts>({});
  /** Rows of the file; null if it cannot be parsed. */
  const [rows, setRows] = useState<number | null>(null);
  const [rejection, setRejection] = useState('');
  const fileField = shape.fields.find(({ type }) => type === 'file');
  const others = shape.fields.filter(({ type }) => type !== 'file');
  const body = useMemo(() => {
    if (!file || !fileField) return null;
    const form = new FormData();
    const fields = shape.fields.filter(({ type }) => type !== 'file');
    for (const [name, value] of Object.entries(parseValues(fields, texts))) form.set(name, String(value));
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
          setRows(null);
          void chosen.text().then((text) => setRows(countRows(text)));
        }}
        onReject={setRejection}
      />
      {rejection !== '' && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          {rejection}
        </Text>
      )}
      {others.map((field) => (
        <Field
          key={field.name}
          field={field}
          value={texts[field.name] ?? ''}
          change={(value) => setTexts({ ...texts, [field.name]: value })}
        />
      ))}
      <SubmitBar
        offer={offer}
        units={rows}
        busy={busy}
        body={body}
        disabled={body === null}
        onSubmit={() => body !== null && submit(body).catch(() => {})}
      />
    </Stack>
  );
}
