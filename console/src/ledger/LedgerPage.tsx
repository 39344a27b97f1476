import { createClient } from '@connectrpc/connect';
import { AccountService } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { ExportMenu } from '../ui/actions/ExportMenu.tsx';
import { Page } from '../ui/layout/Page.tsx';
import { LedgerTable, UserLedger } from '../ui/ledger/LedgerTable.tsx';
import { useList } from '../ui/list/useList.ts';
import { saveStream } from '../ui/session/download.ts';
import { transport } from '../ui/session/transport.ts';

/** Ledger of the caller, with export. */
export function LedgerPage() {
  const { query, rows } = useList(
    AccountService.method.listLedgerEntries,
    { pageSize: 100 },
    (page) => page.entries,
  );
  return (
    <Page
      title="Ledger"
      description="Credits granted, charged and refunded. The balance is their sum."
      actions={
        <ExportMenu
          save={(format) =>
            saveStream(
              createClient(AccountService, transport).exportLedger({ format }),
              `ledger.${format}`,
            )
          }
        />
      }
    >
      <LedgerTable entries={rows} query={query} />
    </Page>
  );
}

export function AllLedgersPage() {
  return (
    <Page title="Ledger" description="Credits granted, charged and refunded, for all users.">
      <UserLedger userId="" />
    </Page>
  );
}
