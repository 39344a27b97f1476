import { Code, ConnectError } from '@connectrpc/connect';
import { QueryClient } from '@tanstack/react-query';
import { RestFault } from '../fault/rest-fault.ts';

const passing = new Set([Code.Unavailable, Code.Unknown, Code.DeadlineExceeded]);

/** Answers are kept for a moment; what may pass by itself is asked for again, twice. */
export const queryClient = new QueryClient({
  defaultOptions: {
    // Whether the service answers is found out by asking it: it may be on this machine.
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      staleTime: 1_000,
      retry: (count, error) =>
        count < 2 && !(error instanceof RestFault) && passing.has(ConnectError.from(error).code),
    },
  },
});

/** How often what is on show is asked for again, in ms. TanStack Query does not ask in a hidden tab. */
export const every = {
  /** While something runs. */
  running: 2_000,
  /** Lists in which something may turn up. */
  watching: 5_000,
  /** What rarely changes. */
  resting: 30_000,
};
