import { Page } from '../ui/layout/Page.tsx';
import { UserLedger } from '../ui/ledger/UserLedger.tsx';

/** Ledger of all users. */
export function AllLedgersPage() {
  return (
    <Page title="Ledger" description="Credits granted, charged and refunded, for all users.">
      <UserLedger userId="" />
    </Page>
  );
}
