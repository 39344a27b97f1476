import { useQuery } from '@connectrpc/connect-query';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { pollMs } from '../app/queries.ts';
import { Page } from '../layout/Page.tsx';
import { Section } from '../layout/Section.tsx';
import { ListTable } from '../list/ListTable.tsx';
import { originColumns } from './columns.tsx';
import { DriftAlarms } from './DriftAlarms.tsx';
import { sortByUrgency } from './totals.ts';

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
          minWidth={900}
          empty={{ title: 'No recent requests', description: 'Sites appear here when jobs run.' }}
        />
      </Section>
      <DriftAlarms />
    </Page>
  );
}
