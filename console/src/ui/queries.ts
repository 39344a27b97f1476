import { Code, ConnectError } from '@connectrpc/connect';
import { QueryClient } from '@tanstack/react-query';
import { useDeferredValue } from 'react';
import { RestError } from './errors/rest-error.ts';

const transientCodes = new Set([Code.Unavailable, Code.Unknown, Code.DeadlineExceeded]);

/** Caches responses for one second and retries transient errors twice. */
export const queryClient = new QueryClient({
  defaultOptions: {
    // The browser's online state is irrelevant: the service may run on this machine.
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      staleTime: 1_000,
      retry: (count, error) =>
        count < 2 &&
        !(error instanceof RestError) &&
        transientCodes.has(ConnectError.from(error).code),
    },
  },
});

/** Polling intervals in milliseconds. TanStack Query does not poll in a hidden tab. */
export const pollMs = {
  /** For data about running work. */
  active: 2_000,
  list: 5_000,
  /** For data that rarely changes. */
  idle: 30_000,
};

/**
 * Returns whether one of the queries has no response yet. Deferred, so that the first responses are
 * rendered in steps between which a phone reacts to its user.
 */
export const useLoading = (...queries: readonly { isPending: boolean }[]): boolean =>
  useDeferredValue(queries.some(({ isPending }) => isPending));
