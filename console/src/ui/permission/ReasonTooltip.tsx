import { Tooltip } from '@mantine/core';
import { useWindowEvent } from '@mantine/hooks';

interface ReasonTooltipProps {
  reason: string;
  /** The disabled button. */
  target: HTMLElement | null;
  close: () => void;
}

/**
 * Shows why a button is disabled until Escape is pressed. A file of its own, because it is loaded
 * with its first use.
 */
export function ReasonTooltip({ reason, target, close }: ReasonTooltipProps) {
  useWindowEvent('keydown', ({ key }) => {
    if (key === 'Escape') close();
  });
  return <Tooltip label={reason} target={target} opened multiline maw={320} />;
}
