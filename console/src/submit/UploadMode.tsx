import { Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { About } from './About.tsx';
import { type Texts, valuesOf } from './body.ts';
import { Field } from './Field.tsx';
import { FileDrop } from './FileDrop.tsx';
import type { RequestShape } from './fields.ts';

interface UploadModeProps {
  shape: RequestShape;
  busy: boolean;
  submit: (body: FormData) => Promise<void>;
}

/** Submits a file as it is, for offers that take one. */
export function UploadMode({ shape, busy, submit }: UploadModeProps) {
  const [file, setFile] = useState<File | null>(null);
  const [texts, setTexts] = useState<Texts>({});
  const [refusal, refuse] = useState('');
  const fileField = shape.fields.find(({ sort }) => sort === 'file');
  const others = shape.fields.filter(({ sort }) => sort !== 'file');
  const upload = () => {
    if (!file || !fileField) return;
    const body = new FormData();
    for (const [name, value] of Object.entries(valuesOf(others, texts))) body.set(name, String(value));
    body.set(fileField.name, file, file.name);
    submit(body).catch(() => {});
  };
  return (
    <Stack>
      <Text size="sm">
        <About text={fileField?.about ?? ''} />
      </Text>
      <FileDrop
        file={file}
        choose={(chosen) => {
          refuse('');
          setFile(chosen);
        }}
        refuse={refuse}
      />
      {refusal !== '' && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          {refusal}
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
