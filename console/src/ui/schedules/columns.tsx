import { Stack, Text } from '@mantine/core';
import type { Schedule, ScheduleRun } from '../../../../gen/gleaner/schedule/v1/schedule_pb.ts';
import { cronText } from '../../../../src/present/cron.ts';
import { jobTypeText } from '../../../../src/present/names.ts';
import { formatCount, formatUnits, shortId } from '../../../../src/present/text.ts';
import { Id } from '../Id.tsx';
import { StatusBadge } from '../jobs/StatusBadge.tsx';
import type { ListColumn } from '../list/list-content.ts';
import { TextLink } from '../TextLink.tsx';
import { Moment } from '../time/Moment.tsx';
import { optionParts } from './request-parts.ts';

/** Formats the credits of all runs: "30 of 500". */
export const spentText = ({ creditsSpent, maxTotalCredits }: Schedule) =>
  maxTotalCredits === undefined
    ? formatCount(Number(creditsSpent))
    : `${formatCount(Number(creditsSpent))} of ${formatCount(Number(maxTotalCredits))}`;

/** Name of a schedule with a link to its page, and its job. */
const nameColumn: ListColumn<Schedule> = {
  title: 'Schedule',
  cell: (schedule) => (
    <Stack gap={0}>
      <TextLink to={`/schedules/${schedule.scheduleId}`}>{schedule.name}</TextLink>
      <Text size="xs" c="dimmed">
        {jobTypeText(schedule)}, {formatUnits(schedule.units)}
      </Text>
    </Stack>
  ),
  sortBy: ({ name }) => name,
};

/** Columns of a user's schedules. */
export const scheduleColumns: ListColumn<Schedule>[] = [
  nameColumn,
  { title: 'Status', cell: ({ state }) => <StatusBadge status={state} /> },
  {
    title: 'Times',
    cell: ({ cron, timeZone }) => (
      <Text size="sm">
        {cronText(cron)} ({timeZone})
      </Text>
    ),
  },
  {
    title: 'Next run',
    cell: ({ nextRunAt }) => <Moment at={nextRunAt} relative />,
    sortBy: ({ nextRunAt }) => nextRunAt?.seconds,
  },
  {
    title: 'Options',
    cell: ({ options }) => {
      const parts = optionParts(options).map(([label, text]) => `${label}: ${text}`);
      return parts.length > 0 && <Text size="xs">{parts.join(', ')}</Text>;
    },
  },
  {
    title: 'Cost per run',
    align: 'right',
    cell: ({ costPerRun }) => formatCount(Number(costPerRun)),
  },
  { title: 'Spent', align: 'right', cell: spentText },
];

const triggers: Readonly<Record<string, string>> = {
  schedule: 'On time',
  missed: 'After an outage',
  manual: 'Started by you',
};

export const runColumns: ListColumn<ScheduleRun>[] = [
  { title: 'Due', cell: ({ scheduledFor }) => <Moment at={scheduledFor} /> },
  { title: 'Trigger', cell: ({ trigger }) => triggers[trigger] ?? trigger },
  { title: 'Status', cell: ({ state }) => <StatusBadge status={state} /> },
  {
    title: 'Job',
    cell: ({ jobId }) =>
      jobId === '' ? '–' : <Id of="jobs" value={jobId} name={`Job ${shortId(jobId)}`} size="sm" />,
  },
  {
    title: 'Credits',
    align: 'right',
    cell: ({ cost, refunded }) => formatCount(Number(cost - refunded)),
  },
  {
    title: 'Reason',
    cell: ({ reason }) =>
      reason !== '' && (
        <Text size="xs" style={{ overflowWrap: 'anywhere' }}>
          {reason}
        </Text>
      ),
  },
];

/** What a run does if the last one has not ended. */
export const overlapLabels: Readonly<Record<string, string>> = {
  skip: 'Skip the run',
  queue: 'Wait for the last run',
  cancel: 'Cancel the last run',
};
