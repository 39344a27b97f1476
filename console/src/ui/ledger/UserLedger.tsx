import { OperatorService } from '../../../../gen/gleaner/operator/v1/operator_pb.ts';
import { useList } from '../list/useList.ts';
import { LedgerTable } from './LedgerTable.tsx';

/** Ledger of one user, or of all users for ''. For operators. */
export function UserLedger({ userId }: { userId: string }) {
  const { query, rows } = useList(
    OperatorService.method.listLedgerEntries,
    { userId, pageSize: 100 },
    (page) => page.entries,
  );
  return <LedgerTable entries={rows} query={query} owners={userId === ''} />;
}
