import { useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';

/** Asks for everything on show again: after something was changed. */
export function useRefresh(): () => Promise<void> {
  const client = useQueryClient();
  return useCallback(() => client.invalidateQueries(), [client]);
}
