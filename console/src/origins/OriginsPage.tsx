import { useQuery } from '@connectrpc/connect-query';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { Page } from '../ui/layout/Page.tsx';
import { Section } from '../ui/layout/Section.tsx';
import { DriftAlarms } from '../ui/origins/DriftAlarms.tsx';
import { OriginsTable } from '../ui/origins/OriginsTable.tsx';
import { pollMs } from '../ui/queries.ts';

/** Health and rate limits of the marketplaces' sites, and drift alarms. */
export function OriginsPage() {
  const query = useQuery(OperatorService.method.listOrigins, {}, { refetchInterval: pollMs.list });
  return (
    <Page
      title="Origins"
      description="Marketplace health and limits. Limits hold across all workers."
    >
      <DriftAlarms />
      <Section title="Sites">
        <OriginsTable query={query} />
      </Section>
    </Page>
  );
}
