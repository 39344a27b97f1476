import { lazy, Suspense, useSyncExternalStore } from 'react';
import { followToasts, hasToasts } from './toast.ts';

const Notifications = lazy(async () => ({
  default: (await import('@mantine/notifications')).Notifications,
}));

/** Place of the notifications, from the first one on. */
export function Toasts() {
  const isUsed = useSyncExternalStore(followToasts, hasToasts);
  return isUsed ? (
    <Suspense>
      <Notifications position="bottom-right" />
    </Suspense>
  ) : null;
}
