import { notifications } from '@mantine/notifications';
import { describeError } from './describe.ts';

/** Shows a success notification. */
export function showSuccess(message: string): void {
  notifications.show({ color: 'teal', message });
}

/** Shows a warning until the user closes it. */
export function showWarning(message: string): void {
  notifications.show({ color: 'yellow', message, autoClose: false });
}

/** Shows an error notification with the cause. */
export function showError(error: unknown): void {
  const { title, detail, problems } = describeError(error);
  const message = [detail, ...problems.slice(0, 3).map((problem) => problem.message)]
    .filter((text, index, all) => all.indexOf(text) === index)
    .join(' ');
  notifications.show({ color: 'red', title, message, autoClose: 10_000 });
}
