import { useInfiniteQuery } from '@connectrpc/connect-query';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { pollMs } from '../app/queries.ts';
import { LedgerTable } from './LedgerTable.tsx';

/** Ledger of one user, or of all users for ''. For operators. */
export function UserLedger({ userId }: { userId: string }) {
  const query = useInfiniteQuery(
    OperatorService.method.listLedgerEntries,
    { userId, pageSize: 100, pageToken: '' },
    {
      pageParamKey: 'pageToken',
      getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
      refetchInterval: pollMs.list,
    },
  );
  return (
    <LedgerTable
      entries={query.data?.pages.flatMap(({ entries }) => entries) ?? []}
      query={query}
      owners={userId === ''}
    />
  );
}
