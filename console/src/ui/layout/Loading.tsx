import { Center, Loader } from '@mantine/core';

/** Placeholder while a page's code loads. */
export function Loading() {
  return (
    <Center mih="40dvh">
      <Loader role="status" aria-label="Loading" />
    </Center>
  );
}
