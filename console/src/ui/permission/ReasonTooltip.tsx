import { Tooltip } from '@mantine/core';
import type { ReactNode } from 'react';

interface ReasonTooltipProps {
  reason: string;
  children: ReactNode;
}

/** Shows why a button is disabled. A file of its own, because it is loaded with its first use. */
export function ReasonTooltip({ reason, children }: ReasonTooltipProps) {
  return (
    <Tooltip label={reason} multiline maw={320}>
      {children}
    </Tooltip>
  );
}
