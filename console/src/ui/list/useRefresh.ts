import { useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';

/** Returns a function that reloads all data on screen, to call after a change. */
export function useRefresh(): () => Promise<void> {
  const client = useQueryClient();
  return useCallback(() => client.invalidateQueries(), [client]);
}
