import { Anchor, type AnchorProps } from '@mantine/core';
import { Link } from 'react-router';
import { shortId } from '../../../src/present/text.ts';

interface IdProps extends AnchorProps {
  /** Path of the pages of its kind: "jobs". */
  of: 'jobs' | 'users' | 'schedules';
  value: string;
  /** Shown instead of the start of the id, if it is not empty. */
  name?: string | undefined;
}

/** Id as a link to its page. */
export function Id({ of, value, name, ...props }: IdProps) {
  return (
    <Anchor component={Link} to={`/${of}/${value}`} size="sm" {...props}>
      {name || shortId(value)}
    </Anchor>
  );
}
