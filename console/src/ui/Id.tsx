import type { AnchorProps } from '@mantine/core';
import { shortId } from '../../../src/present/text.ts';
import { TextLink } from './TextLink.tsx';

interface IdProps extends AnchorProps {
  /** Path of the pages of its kind: "jobs". */
  of: 'jobs' | 'users' | 'schedules';
  value: string;
  /** Shown instead of the start of the id, if it is not empty. */
  name?: string | undefined;
}

/** Id as a link to its page, whose title has the whole id: names need not be unique. */
export function Id({ of, value, name, ...props }: IdProps) {
  return (
    <TextLink to={`/${of}/${value}`} title={value} {...props}>
      {name || shortId(value)}
    </TextLink>
  );
}
