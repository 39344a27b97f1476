import { Code } from '@mantine/core';
import { Fragment } from 'react';

/** What the contract says of something: parts between backticks are set as code. */
export function About({ text }: { text: string }) {
  return text
    .split('`')
    .map((part, at) => ({ part, at }))
    .map(({ part, at }) =>
      at % 2 === 1 ? <Code key={at}>{part}</Code> : <Fragment key={at}>{part}</Fragment>,
    );
}
