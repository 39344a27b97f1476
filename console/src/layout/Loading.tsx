import { Center, Loader } from '@mantine/core';

/** Stands for a page while its code is on its way. */
export function Loading() {
  return (
    <Center mih="40dvh">
      <Loader aria-label="Loading" />
    </Center>
  );
}
