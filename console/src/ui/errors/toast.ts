import type { NotificationData } from '@mantine/notifications';

let isUsed = false;
const listeners = new Set<() => void>();

/** Returns whether a notification has been shown. */
export const hasToasts = (): boolean => isUsed;

/** Calls `listener` when the first notification is shown. Returns a function that stops. */
export function followToasts(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Shows a notification. The first one loads the code of all. */
export function showToast(toast: NotificationData): void {
  isUsed = true;
  for (const listener of listeners) listener();
  void import('@mantine/notifications').then(({ notifications }) => notifications.show(toast));
}

export function showSuccess(message: string): void {
  showToast({ color: 'teal', message });
}

/** Shows a warning until the user closes it. */
export function showWarning(message: string): void {
  showToast({ color: 'yellow', message, autoClose: false });
}
