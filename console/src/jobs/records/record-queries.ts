import type { AccountRole } from '../../ui/session/session.ts';

/**
 * Returns the options of queries that read records. The audit log has an entry for each time that an operator
 * reads some, so an operator's page does not read them again by itself.
 */
export const recordQueryOptions = (role: AccountRole, refetchInterval: number | false) =>
  role === 'operator' ? ({ staleTime: 'static', refetchInterval: false } as const) : { refetchInterval };
