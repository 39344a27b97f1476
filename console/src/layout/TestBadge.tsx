import { Badge } from '@mantine/core';

/** Mark of test accounts, and of their keys and jobs. */
export function TestBadge() {
  return (
    <Badge variant="light" color="orange" tt="none">
      Test
    </Badge>
  );
}
