import { Code, JsonInput, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { bodyOf, emptyDraft } from '../ui/request/draft.ts';
import { bodyTemplate, countUnits, isJson } from './json-body.ts';
import { type ModeProps, SubmitBar } from './SubmitBar.tsx';

/** Editor for the JSON body of the request. */
export function JsonMode({ jobType, shape, draft, busy, submit }: ModeProps) {
  const [template] = useState(() => bodyTemplate(shape));
  const [text, setText] = useState(() =>
    draft === emptyDraft ? template : JSON.stringify(bodyOf(shape, draft), null, 2),
  );
  return (
    <Stack>
      <Text size="sm">
        Sent unchanged as the body of <Code>POST {jobType.endpoint.path}</Code>.
      </Text>
      <JsonInput
        label="Body"
        value={text}
        onChange={setText}
        validationError="Invalid JSON"
        autosize
        minRows={10}
        maxRows={30}
      />
      <SubmitBar
        jobType={jobType}
        units={countUnits(shape, text)}
        busy={busy}
        body={text !== template && isJson(text) ? text : null}
        onSubmit={() => submit(text).catch(() => {})}
      />
    </Stack>
  );
}
