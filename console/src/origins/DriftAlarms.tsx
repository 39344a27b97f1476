import { useMutation, useQuery } from '@connectrpc/connect-query';
import { Button, Code, Switch } from '@mantine/core';
import { modals } from '@mantine/modals';
import { useState } from 'react';
import { type FieldDrift, OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { every } from '../app/queries.ts';
import { tellDone, tellFault } from '../fault/tell.ts';
import { Section } from '../layout/Section.tsx';
import { type Column, ListTable } from '../list/ListTable.tsx';
import { useRefresh } from '../list/useRefresh.ts';
import { countText, shareText } from '../number/text.ts';
import { marketText } from '../offers/offers.ts';
import { Moment } from '../time/Moment.tsx';

const columns: Column<FieldDrift>[] = [
  { title: 'Page', cell: ({ market, page }) => `${marketText(market)}, ${page}` },
  { title: 'Field', cell: ({ field }) => <Code>{field}</Code> },
  { title: 'Missing now', align: 'right', cell: ({ absentShare }) => shareText(absentShare) },
  {
    title: 'Usually',
    align: 'right',
    cell: ({ usualShare }) => (usualShare === undefined ? 'not known' : shareText(usualShare)),
  },
  { title: 'Pages', align: 'right', cell: ({ pages }) => countText(pages) },
  { title: 'Since', cell: ({ since }) => <Moment at={since} relative none="no alarm" /> },
  {
    title: 'Example',
    cell: ({ exampleUnit }) => <Code style={{ overflowWrap: 'anywhere' }}>{exampleUnit}</Code>,
  },
];

/** Fields that go missing from pages: signs that a site has changed. */
export function DriftAlarms() {
  const [all, setAll] = useState(false);
  const query = useQuery(OperatorService.method.listDriftAlarms, { all }, { refetchInterval: every.resting });
  const acceptance = useMutation(OperatorService.method.acceptDrift);
  const refresh = useRefresh();
  const accept = ({ market, page, field }: FieldDrift) =>
    modals.openConfirmModal({
      title: 'Is the field rightly missing?',
      children: `The alarm of “${field}” ends, and what the newest pages are like is taken as usual.`,
      labels: { confirm: 'Accept', cancel: 'Not now' },
      onConfirm: () =>
        void acceptance
          .mutateAsync({ market, page, field })
          .then(({ fields }) =>
            tellDone(fields.length === 0 ? 'There was no alarm any more.' : 'The alarm has ended.'),
          )
          .then(refresh)
          .catch(tellFault),
    });
  const action: Column<FieldDrift> = {
    title: 'Accept',
    align: 'right',
    cell: (alarm) =>
      alarm.since ? (
        <Button
          size="compact-sm"
          variant="default"
          onClick={() => accept(alarm)}
          aria-label={`Accept ${alarm.field}`}
        >
          Accept
        </Button>
      ) : null,
  };
  return (
    <Section
      title="Drift alarms"
      about="Fields that are missing more often than was usual."
      actions={
        <Switch
          label="Fields without an alarm, too"
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
        empty={{ title: all ? 'No pages were read yet' : 'No alarm', about: 'Pages are as they were.' }}
      />
    </Section>
  );
}
