import { Button, Code, Group, JsonInput, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { RequestShape } from './fields.ts';

interface JsonModeProps {
  shape: RequestShape;
  path: string;
  busy: boolean;
  submit: (body: string) => Promise<void>;
}

/** Returns a template body with an empty value for each required field. */
function bodyTemplate({ fields, list }: RequestShape): string {
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

/** Editor for the JSON body of the request. */
export function JsonMode({ shape, path, busy, submit }: JsonModeProps) {
  const [text, setText] = useState(() => bodyTemplate(shape));
  return (
    <Stack>
      <Text size="sm">
        Sent unchanged as the body of <Code>POST {path}</Code>.
      </Text>
      <JsonInput
        label="Body"
        value={text}
        onChange={setText}
        validationError="Invalid JSON"
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
