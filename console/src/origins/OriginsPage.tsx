import { useQuery } from '@connectrpc/connect-query';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { every } from '../app/queries.ts';
import { Page } from '../layout/Page.tsx';
import { Section } from '../layout/Section.tsx';
import { ListTable } from '../list/ListTable.tsx';
import { originColumns } from './columns.tsx';
import { DriftAlarms } from './DriftAlarms.tsx';
import { byNeed } from './totals.ts';

/** Health of the sites: what was asked of them, who refuses, and which pages have changed. */
export function OriginsPage() {
  const query = useQuery(OperatorService.method.listOrigins, {}, { refetchInterval: every.watching });
  return (
    <Page
      title="Origins"
      about="Sites that were lately asked, or that refuse. All workers together keep to their limits."
    >
      <Section title="Sites">
        <ListTable
          label="Origins"
          rows={byNeed(query.data?.origins ?? [])}
          keyOf={({ origin, region }) => `${origin} ${region}`}
          query={query}
          columns={originColumns}
          minWidth={900}
          empty={{ title: 'No site was asked lately', about: 'They turn up with the first jobs.' }}
        />
      </Section>
      <DriftAlarms />
    </Page>
  );
}
