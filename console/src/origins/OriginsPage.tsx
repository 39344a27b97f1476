import { useQuery } from '@connectrpc/connect-query';
import { Code, Switch } from '@mantine/core';
import { useState } from 'react';
import { type FieldDrift, OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { marketTitle } from '../../../src/present/names.ts';
import { formatCount, formatPercent } from '../../../src/present/text.ts';
import { ConfirmButton } from '../ui/actions/ActionButton.tsx';
import { Page } from '../ui/layout/Page.tsx';
import { Section } from '../ui/layout/Section.tsx';
import { ListTable } from '../ui/list/ListTable.tsx';
import type { ListColumn } from '../ui/list/list-content.ts';
import { OriginsTable } from '../ui/origins/OriginsTable.tsx';
import { pollMs } from '../ui/queries.ts';
import { Moment } from '../ui/time/Moment.tsx';

/** Health and rate limits of the marketplaces' sites, and drift alarms. */
export function OriginsPage() {
  const query = useQuery(OperatorService.method.listOrigins, {}, { refetchInterval: pollMs.list });
  return (
    <Page title="Origins" description="Marketplace health and limits. Limits hold across all workers.">
      <Section title="Sites">
        <OriginsTable query={query} />
      </Section>
      <DriftAlarms />
    </Page>
  );
}

const columns: ListColumn<FieldDrift>[] = [
  { title: 'Page', cell: ({ market, page }) => `${marketTitle(market)}, ${page}` },
  { title: 'Field', cell: ({ field }) => <Code>{field}</Code> },
  { title: 'Missing', align: 'right', cell: ({ absentShare }) => formatPercent(absentShare) },
  {
    title: 'Baseline',
    align: 'right',
    cell: ({ usualShare: share }) => (share === undefined ? 'Unknown' : formatPercent(share)),
  },
  { title: 'Pages', align: 'right', cell: ({ pages }) => formatCount(pages) },
  { title: 'Since', cell: ({ since }) => <Moment at={since} relative none="–" /> },
  {
    title: 'Example',
    cell: ({ exampleUnit }) => <Code style={{ overflowWrap: 'anywhere' }}>{exampleUnit}</Code>,
  },
];

/** Fields missing from pages more often than in the baseline: signs that a site has changed. */
function DriftAlarms() {
  const [all, setAll] = useState(false);
  const query = useQuery(OperatorService.method.listDriftAlarms, { all }, { refetchInterval: pollMs.idle });
  const action: ListColumn<FieldDrift> = {
    title: 'Actions',
    align: 'right',
    cell: (alarm) =>
      alarm.since ? (
        <ConfirmButton
          inRow
          call={OperatorService.method.acceptDrift}
          request={{ market: alarm.market, page: alarm.page, field: alarm.field }}
          question={{
            title: `Accept the drift of “${alarm.field}”?`,
            text: 'The newest pages become the baseline and the alarm is cleared.',
            confirm: 'Accept',
            isHarmless: true,
          }}
          done={({ fields }) => (fields.length === 0 ? 'The alarm was already cleared.' : 'Alarm cleared.')}
          aria-label={`Accept ${alarm.field}`}
        >
          Accept
        </ConfirmButton>
      ) : null,
  };
  return (
    <Section
      title="Drift alarms"
      description="Fields missing more often than expected"
      actions={
        <Switch
          label="Show all fields"
          checked={all}
          onChange={(event) => setAll(event.currentTarget.checked)}
        />
      }
    >
      <ListTable
        label="Drift alarms"
        rows={query.data?.alarms ?? []}
        keyOf={({ market, page, field }) => `${market} ${page} ${field}`}
        query={query}
        columns={[...columns, action]}
        minWidth={820}
        empty={
          all
            ? { title: 'No pages read yet', description: 'Statistics appear after the first jobs.' }
            : { title: 'No drift detected' }
        }
      />
    </Section>
  );
}
