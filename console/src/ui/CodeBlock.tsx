import { Button, Code, CopyButton, Group, Stack } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import type { ReactNode } from 'react';

interface CodeBlockProps {
  /** Name of the text for assistive technology. */
  label: string;
  text: string;
  /** Buttons beside the one that copies. */
  children?: ReactNode;
}

/** Text that scrolls, with a button that copies it. */
export function CodeBlock({ label, text, children }: CodeBlockProps) {
  return (
    <Stack>
      <Code
        block
        tabIndex={0}
        role="region"
        aria-label={label}
        mah={360}
        style={{ overflow: 'auto' }}
      >
        {text}
      </Code>
      <Group justify="flex-end">
        {children}
        <CopyTextButton text={text} />
      </Group>
    </Stack>
  );
}

export function CopyTextButton({ text }: { text: string }) {
  return (
    <CopyButton value={text}>
      {({ copied, copy }) => (
        <Button
          leftSection={
            copied ? <IconCheck size={16} aria-hidden /> : <IconCopy size={16} aria-hidden />
          }
          onClick={copy}
          variant="default"
        >
          {copied ? 'Copied' : 'Copy'}
        </Button>
      )}
    </CopyButton>
  );
}
