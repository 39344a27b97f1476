import { useQuery } from '@connectrpc/connect-query';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { Page } from '../ui/layout/Page.tsx';
import { Section } from '../ui/layout/Section.tsx';
import { ListTable } from '../ui/list/ListTable.tsx';
import { OriginBrief, originColumns } from '../ui/origins/columns.tsx';
import { sortByUrgency } from '../ui/origins/totals.ts';
import { pollMs } from '../ui/queries.ts';
import { DriftAlarms } from './DriftAlarms.tsx';

/** Health and rate limits of the marketplaces' sites, and drift alarms. */
export function OriginsPage() {
  const query = useQuery(OperatorService.method.listOrigins, {}, { refetchInterval: pollMs.list });
  return (
    <Page title="Origins" description="Marketplace health and limits. Limits hold across all workers.">
      <Section title="Sites">
        <ListTable
          label="Origins"
          rows={sortByUrgency(query.data?.origins ?? [])}
          keyOf={({ origin, region }) => `${origin} ${region}`}
          query={query}
          columns={originColumns}
          brief={(origin) => <OriginBrief origin={origin} />}
          minWidth={900}
          empty={{ title: 'No recent requests', description: 'Sites appear here when jobs run.' }}
        />
      </Section>
      <DriftAlarms />
    </Page>
  );
}
