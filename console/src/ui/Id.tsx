import { ActionIcon, type AnchorProps, Code, CopyButton, Group, Tooltip } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { shortId } from '../../../src/present/text.ts';
import { TextLink } from './TextLink.tsx';

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
    <TextLink to={`/${of}/${value}`} {...props}>
      {name || shortId(value)}
    </TextLink>
  );
}

/** Whole id with a copy button. */
export function CopyId({ value, name }: { value: string; name: string }) {
  return (
    <Group gap={4} wrap="nowrap">
      <Code style={{ overflowWrap: 'anywhere' }}>{value}</Code>
      <CopyButton value={value}>
        {({ copied, copy }) => (
          <Tooltip label={copied ? 'Copied' : `Copy ${name}`}>
            <ActionIcon variant="subtle" color="gray" onClick={copy} aria-label={`Copy ${name}`}>
              {copied ? <IconCheck size={16} aria-hidden /> : <IconCopy size={16} aria-hidden />}
            </ActionIcon>
          </Tooltip>
        )}
      </CopyButton>
    </Group>
  );
}
