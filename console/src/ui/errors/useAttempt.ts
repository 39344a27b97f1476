import { useRefresh } from '../list/useRefresh.ts';
import { showError } from './describe.ts';
import { showSuccess } from './toast.ts';

/**
 * Returns a function that waits for a call that changes something, shows a message, and refreshes the page's
 * data, or shows the error. A message may depend on the response; null shows none.
 */
export function useAttempt() {
  const refresh = useRefresh();
  return async <Response>(
    call: Promise<Response>,
    message: string | ((response: Response) => string | null),
  ): Promise<void> => {
    try {
      const response = await call;
      const text = typeof message === 'string' ? message : message(response);
      if (text !== null) showSuccess(text);
      await refresh();
    } catch (error) {
      showError(error);
    }
  };
}
