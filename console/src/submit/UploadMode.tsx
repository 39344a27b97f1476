import { Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { type FieldTexts, parseValues } from './body.ts';
import { Field } from './Field.tsx';
import { FileDrop } from './FileDrop.tsx';
import type { RequestShape } from './fields.ts';
import { InlineCode } from './InlineCode.tsx';

interface UploadModeProps {
  shape: RequestShape;
  busy: boolean;
  submit: (body: FormData) => Promise<void>;
}

/** Uploads a file, for job types that take one. */
export function UploadMode({ shape, busy, submit }: UploadModeProps) {
  const [file, setFile] = useState<File | null>(null);
  const [texts, setTexts] = useState<FieldTexts>({});
  const [rejection, setRejection] = useState('');
  const fileField = shape.fields.find(({ type }) => type === 'file');
  const others = shape.fields.filter(({ type }) => type !== 'file');
  const upload = () => {
    if (!file || !fileField) return;
    const body = new FormData();
    for (const [name, value] of Object.entries(parseValues(others, texts))) body.set(name, String(value));
    body.set(fileField.name, file, file.name);
    submit(body).catch(() => {});
  };
  return (
    <Stack>
      <Text size="sm">
        <InlineCode text={fileField?.description ?? ''} />
      </Text>
      <FileDrop
        file={file}
        onFile={(chosen) => {
          setRejection('');
          setFile(chosen);
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
      <Group>
        <Button disabled={!file} loading={busy} onClick={upload}>
          Submit
        </Button>
      </Group>
    </Stack>
  );
}
