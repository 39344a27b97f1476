import { useMutation, useQuery } from '@connectrpc/connect-query';
import { Code, Switch } from '@mantine/core';
import { modals } from '@mantine/modals';
import { useState } from 'react';
import { type FieldDrift, OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { pollMs } from '../app/queries.ts';
import { useAttempt } from '../errors/useAttempt.ts';
import { Section } from '../layout/Section.tsx';
import { ListTable } from '../list/ListTable.tsx';
import type { Column } from '../list/list-content.ts';
import { formatCount, formatPercent } from '../number/format.ts';
import { marketText } from '../offers/offers.ts';
import { CallButton } from '../permission/CallButton.tsx';
import { Moment } from '../time/Moment.tsx';

const columns: Column<FieldDrift>[] = [
  { title: 'Page', cell: ({ market, page }) => `${marketText(market)}, ${page}` },
  { title: 'Field', cell: ({ field }) => <Code>{field}</Code> },
  { title: 'Missing', align: 'right', cell: ({ absentShare }) => formatPercent(absentShare) },
  {
    title: 'Baseline',
    align: 'right',
    // cspell:disable-next-line
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
export function DriftAlarms() {
  const [all, setAll] = useState(false);
  const query = useQuery(OperatorService.method.listDriftAlarms, { all }, { refetchInterval: pollMs.idle });
  const acceptance = useMutation(OperatorService.method.acceptDrift);
  const attempt = useAttempt();
  const accept = ({ market, page, field }: FieldDrift) =>
    modals.openConfirmModal({
      title: `Accept the drift of “${field}”?`,
      children: 'The newest pages become the baseline and the alarm is cleared.',
      labels: { confirm: 'Accept', cancel: 'Back' },
      onConfirm: () =>
        void attempt(acceptance.mutateAsync({ market, page, field }), ({ fields }) =>
          fields.length === 0 ? 'The alarm was already cleared.' : 'Alarm cleared.',
        ),
    });
  const action: Column<FieldDrift> = {
    title: 'Actions',
    align: 'right',
    cell: (alarm) =>
      alarm.since ? (
        <CallButton
          call={OperatorService.method.acceptDrift}
          size="compact-sm"
          variant="default"
          onClick={() => accept(alarm)}
          aria-label={`Accept ${alarm.field}`}
        >
          Accept
        </CallButton>
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
