import { createClient } from '@connectrpc/connect';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { ExportMenu } from '../ui/actions/ExportMenu.tsx';
import { Page } from '../ui/layout/Page.tsx';
import { useAddressFilter, useList } from '../ui/list/useList.ts';
import { saveStream } from '../ui/session/download.ts';
import { transport } from '../ui/session/transport.ts';
import { AuditFilters } from './AuditFilters.tsx';
import { AuditTable } from './AuditTable.tsx';
import { emptySearch, filterOf } from './search.ts';

/** Actions of operators and users, with filters, which the address keeps, and export. */
export function AuditPage() {
  const [search, change] = useAddressFilter(emptySearch);
  const filter = filterOf(search);
  const { query, rows } = useList(
    OperatorService.method.listAuditEntries,
    { ...filter },
    (page) => page.entries,
  );
  const actors = new Map(
    rows.filter(({ actorName }) => actorName).map((row) => [row.actorId, row.actorName]),
  );
  return (
    <Page
      title="Audit log"
      description="Actions of operators and users, including refused ones. Entries cannot be changed."
      actions={
        <ExportMenu
          save={(format) =>
            saveStream(
              createClient(OperatorService, transport).exportAuditLog({ ...filter, format }),
              `audit-log.${format}`,
            )
          }
        />
      }
    >
      <AuditFilters search={search} actors={actors} change={change} />
      <AuditTable entries={rows} query={query} />
    </Page>
  );
}
