import { notifications } from '@mantine/notifications';
import { describeFault } from './describe.ts';

/** Tells that something was done. */
export function tellDone(message: string): void {
  notifications.show({ color: 'teal', title: 'Done', message });
}

/** Tells that something could not be done, and why. */
export function tellFault(error: unknown): void {
  const { title, detail, problems } = describeFault(error);
  const message = [detail, ...problems.slice(0, 3).map((problem) => problem.message)]
    .filter((text, at, all) => all.indexOf(text) === at)
    .join(' ');
  notifications.show({ color: 'red', title, message, autoClose: 10_000 });
}
