import { Button, Code, Group, JsonInput, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { RequestShape } from './fields.ts';

interface JsonModeProps {
  shape: RequestShape;
  path: string;
  busy: boolean;
  submit: (body: string) => Promise<void>;
}

/** A body with an empty value for each field, to begin with. */
function draft({ fields, list }: RequestShape): string {
  const empty = (names: readonly { name: string }[]) =>
    Object.fromEntries(names.map(({ name }) => [name, '']));
  const required = (all: RequestShape['fields']) => all.filter((field) => field.required);
  return JSON.stringify(
    {
      ...empty(required(fields)),
      ...(list ? { [list.name]: [list.fields ? empty(required(list.fields)) : ''] } : {}),
    },
    null,
    2,
  );
}

/** Submits a JSON body as a program would. */
export function JsonMode({ shape, path, busy, submit }: JsonModeProps) {
  const [text, setText] = useState(() => draft(shape));
  return (
    <Stack>
      <Text size="sm">
        The body of <Code>POST {path}</Code>, sent as it is.
      </Text>
      <JsonInput
        label="Body"
        value={text}
        onChange={setText}
        validationError="This is not JSON yet."
        formatOnBlur
        autosize
        minRows={10}
        maxRows={30}
      />
      <Group>
        <Button loading={busy} onClick={() => submit(text).catch(() => {})}>
          Submit
        </Button>
      </Group>
    </Stack>
  );
}
