import { Code, JsonInput, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { Offer } from '../offers/offers.ts';
import type { RequestShape } from './fields.ts';
import { bodyTemplate, countUnits, isJson } from './json-body.ts';
import { SubmitBar } from './SubmitBar.tsx';

interface JsonModeProps {
  offer: Offer;
  shape: RequestShape;
  busy: boolean;
  submit: (body: string) => Promise<void>;
}

/** Editor for the JSON body of the request. */
export function JsonMode({ offer, shape, busy, submit }: JsonModeProps) {
  const [template] = useState(() => bodyTemplate(shape));
  const [text, setText] = useState(template);
  return (
    <Stack>
      <Text size="sm">
        Sent unchanged as the body of <Code>POST {offer.endpoint.path}</Code>.
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
        offer={offer}
        units={countUnits(shape, text)}
        busy={busy}
        body={text !== template && isJson(text) ? text : null}
        onSubmit={() => submit(text).catch(() => {})}
      />
    </Stack>
  );
}
