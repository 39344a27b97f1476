import { Anchor, type AnchorProps } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'react-router';

export interface TextLinkProps extends AnchorProps {
  /** Path of the page. */
  to: string;
  title?: string;
  children: ReactNode;
}

/** Link to a page of the console. */
export const TextLink = (props: TextLinkProps) => <Anchor component={Link} size="sm" {...props} />;
