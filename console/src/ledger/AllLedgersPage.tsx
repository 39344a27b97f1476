import { Page } from '../layout/Page.tsx';
import { UserLedger } from './UserLedger.tsx';

/** The ledger over all users. */
export function AllLedgersPage() {
  return (
    <Page title="Ledger" about="Credits of all users: added, taken for jobs, given back.">
      <UserLedger userId="" />
    </Page>
  );
}
