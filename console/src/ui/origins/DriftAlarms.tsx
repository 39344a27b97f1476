import { useQuery } from '@connectrpc/connect-query';
import { Code, Switch } from '@mantine/core';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import { JobService } from '../../../../gen/gleaner/job/v1/job_pb.ts';
import {
  type FieldDrift,
  OperatorService,
} from '../../../../gen/gleaner/operator/v1/operator_pb.ts';
import { marketTitle } from '../../../../src/present/names.ts';
import { counted, formatCount, formatPercent } from '../../../../src/present/text.ts';
import { ConfirmButton } from '../actions/ActionButton.tsx';
import { emptyFilter, useJobs } from '../jobs/useJobs.ts';
import { Section } from '../layout/Section.tsx';
import { ListTable } from '../list/ListTable.tsx';
import type { ListColumn } from '../list/list-content.ts';
import { RowActions } from '../list/RowActions.tsx';
import { pollMs } from '../queries.ts';
import { TextLink } from '../TextLink.tsx';
import { Moment } from '../time/Moment.tsx';

const columns: ListColumn<FieldDrift>[] = [
  { title: 'Page', cell: ({ market, page }) => `${marketTitle(market)}, ${page}` },
  { title: 'Field', cell: ({ field }) => <Code>{field}</Code> },
  { title: 'Missing', align: 'right', cell: ({ absentShare }) => formatPercent(absentShare) },
  {
    title: 'Baseline',
    align: 'right',
    cell: ({ usualShare: share }) => (share === undefined ? 'Unknown' : formatPercent(share)),
  },
  {
    title: 'Contradicted',
    align: 'right',
    cell: ({ contradictedShare: share }) => (share > 0 ? formatPercent(share) : '–'),
  },
  { title: 'Pages', align: 'right', cell: ({ pages }) => formatCount(pages) },
  { title: 'Since', cell: ({ since }) => <Moment at={since} relative none="–" /> },
  {
    title: 'Example',
    cell: ({ exampleUnit }) => <Code style={{ overflowWrap: 'anywhere' }}>{exampleUnit}</Code>,
  },
];

/** Fields missing from pages more often than in the baseline: signs that a site has changed. */
export function DriftAlarms({ isBrief = false }: { isBrief?: boolean }) {
  const [all, setAll] = useState(false);
  const query = useQuery(
    OperatorService.method.listDriftAlarms,
    { all },
    { refetchInterval: pollMs.idle },
  );
  const action: ListColumn<FieldDrift> = {
    title: 'Actions',
    align: 'right',
    cell: (alarm) =>
      alarm.since ? (
        <RowActions>
          <ReadKeptPages market={alarm.market} />
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
            done={({ fields }) =>
              fields.length === 0 ? 'The alarm was already cleared.' : 'Alarm cleared.'
            }
            aria-label={`Accept ${alarm.field}`}
          >
            Accept
          </ConfirmButton>
        </RowActions>
      ) : null,
  };
  if (isBrief && !query.data?.alarms.length) return null;
  return (
    <Section
      title="Drift alarms"
      description="Fields missing more often than expected"
      actions={
        isBrief ? (
          <TextLink to="/origins">All origins</TextLink>
        ) : (
          <Switch
            label="Show all fields"
            checked={all}
            onChange={(event) => setAll(event.currentTarget.checked)}
          />
        )
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

/**
 * Button that reads the kept pages of the latest job of a marketplace again: it shows whether the
 * readers still find the field in pages that were fetched before.
 */
function ReadKeptPages({ market }: { market: string }) {
  const { jobs } = useJobs({ ...emptyFilter, market }, 50);
  const navigate = useNavigate();
  const job = jobs.find(
    ({ ended, keptPages }) => ended && keptPages?.deleteAt && keptPages.kept > 0,
  );
  return (
    <ConfirmButton
      inRow
      call={JobService.method.rereadJob}
      request={{ jobId: job?.jobId ?? '' }}
      refusal={
        job
          ? null
          : `No job on ${marketTitle(market)} keeps pages. Submit one with the option keep_pages.`
      }
      question={{
        title: 'Read kept pages again?',
        text:
          'This creates a new job that reads the ' +
          `${counted(job?.keptPages?.kept ?? 0, 'kept page')} of the ` +
          `latest job on ${marketTitle(market)} with the current readers, ` +
          'charged to its owner. Its details show what differs.',
        confirm: 'Read again',
        isHarmless: true,
      }}
      done={(created) => {
        void navigate(`/jobs/${created.jobId}?tab=details`);
        return 'New job created.';
      }}
      aria-label={`Read kept pages of ${marketTitle(market)} again`}
    >
      Read kept pages again
    </ConfirmButton>
  );
}
