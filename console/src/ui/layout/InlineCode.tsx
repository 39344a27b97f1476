import { Code } from '@mantine/core';
import { Fragment } from 'react';

/** Renders a text with parts between backticks as code. */
export function InlineCode({ text }: { text: string }) {
  return text
    .split('`')
    .map((part, index) => ({ part, index }))
    .map(({ part, index }) =>
      index % 2 === 1 ? <Code key={index}>{part}</Code> : <Fragment key={index}>{part}</Fragment>,
    );
}
