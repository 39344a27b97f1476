import { Center, Loader } from '@mantine/core';

/**
 * Placeholder while a page's code loads. In a file of its own: the sign-in page has it, and nothing
 * of a page.
 */
export function Loading() {
  return (
    <Center mih="40dvh">
      <Loader role="status" aria-label="Loading" />
    </Center>
  );
}
