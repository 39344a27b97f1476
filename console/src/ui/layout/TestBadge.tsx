import { Badge } from '@mantine/core';

/** Mark of test accounts, and of their keys and jobs. */
export function TestBadge({ label = 'Test' }: { label?: string }) {
  return <Badge color="orange">{label}</Badge>;
}
