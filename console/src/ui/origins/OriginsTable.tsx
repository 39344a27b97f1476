import { timestampMs } from '@bufbuild/protobuf/wkt';
import { Badge, Group, Stack, Text } from '@mantine/core';
import type { Origin } from '../../../../gen/gleaner/operator/v1/operator_pb.ts';
import { failureGuide } from '../../../../src/present/failure-guide.ts';
import { marketTitle } from '../../../../src/present/names.ts';
import { sortByUrgency } from '../../../../src/present/origins.ts';
import { formatCount, formatPercent } from '../../../../src/present/text.ts';
import { type ListQuery, ListTable } from '../list/ListTable.tsx';
import type { ListColumn } from '../list/list-content.ts';
import { Moment } from '../time/Moment.tsx';
import { originState, summarizeMinutes } from './totals.ts';

type Totals = ReturnType<typeof summarizeMinutes>;

function Limits({ origin: { concurrency, requestsPerSecond } }: { origin: Origin }) {
  if (concurrency === 0 && requestsPerSecond === 0) return '–';
  return (
    <Text size="sm" style={{ whiteSpace: 'nowrap' }}>
      {concurrency} concurrent, {requestsPerSecond}/s
    </Text>
  );
}

function requestsText(requests: number): string {
  if (requests === 0) return 'No requests';
  return requests === 1 ? '1 request' : `${formatCount(requests)} requests`;
}

const placeOf = ({ market, region }: Origin) =>
  [market && marketTitle(market), region].filter(Boolean).join(' · ');

const latencyText = ({ milliseconds }: Totals) => `${formatCount(milliseconds)}\u00a0ms`;

function LastHour({ origin }: { origin: Origin }) {
  const { requests } = summarizeMinutes(origin.minutes);
  const counts = origin.minutes.map((minute) => minute.requests);
  return (
    <Stack gap={2} align="flex-end">
      {counts.length > 1 && <RequestLine values={counts} />}
      <Text size="sm" style={{ whiteSpace: 'nowrap' }}>
        {requestsText(requests)}
      </Text>
    </Stack>
  );
}

/** Formats a statistic of the last hour; '–' without requests. */
function ofRequests(minutes: Origin['minutes'], format: (totals: Totals) => string): string {
  const totals = summarizeMinutes(minutes);
  return totals.requests === 0 ? '–' : format(totals);
}

const columns: ListColumn<Origin>[] = [
  {
    title: 'Site',
    cell: (origin) => (
      <Stack gap={0}>
        <Text size="sm" miw={170} style={{ overflowWrap: 'anywhere' }}>
          {origin.origin}
        </Text>
        <Text size="xs" c="dimmed">
          {placeOf(origin)}
        </Text>
      </Stack>
    ),
  },
  { title: 'Status', cell: (origin) => <State origin={origin} /> },
  { title: 'Limits', cell: (origin) => <Limits origin={origin} /> },
  { title: 'Last hour', align: 'right', cell: (origin) => <LastHour origin={origin} /> },
  {
    title: 'Blocked',
    align: 'right',
    cell: ({ minutes }) => ofRequests(minutes, ({ refusedShare }) => formatPercent(refusedShare)),
  },
  {
    title: 'Failed',
    align: 'right',
    cell: ({ minutes }) => ofRequests(minutes, ({ failedShare }) => formatPercent(failedShare)),
  },
  {
    title: 'Latency',
    align: 'right',
    cell: ({ minutes }) => ofRequests(minutes, latencyText),
  },
];

/** Origin on a narrow screen: its site, and its state beside the last hour. */
function OriginBrief({ origin }: { origin: Origin }) {
  const totals = summarizeMinutes(origin.minutes);
  const { requests, refusedShare, failedShare } = totals;
  const figures = [
    requestsText(requests),
    refusedShare > 0 ? `${formatPercent(refusedShare)} blocked` : '',
    failedShare > 0 ? `${formatPercent(failedShare)} failed` : '',
    requests > 0 ? latencyText(totals) : '',
  ];
  return (
    <>
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {origin.origin}{' '}
        <Text span size="xs" c="dimmed">
          {placeOf(origin)}
        </Text>
      </Text>
      <Group gap="xs" justify="space-between" align="flex-start">
        <State origin={origin} />
        <Text span size="xs">
          {figures.filter(Boolean).join(' · ')}
        </Text>
      </Group>
    </>
  );
}

interface OriginsTableProps {
  query: ListQuery & { data?: { origins: Origin[] } | undefined };
  /** Maximum origins shown; all by default. */
  maxOrigins?: number;
}

/** Origins with their state and recent requests, the most urgent first. */
export function OriginsTable({ query, maxOrigins }: OriginsTableProps) {
  return (
    <ListTable
      label="Origins"
      rows={sortByUrgency(query.data?.origins ?? []).slice(0, maxOrigins)}
      keyOf={({ origin, region }) => `${origin} ${region}`}
      query={query}
      columns={columns}
      brief={(origin) => <OriginBrief origin={origin} />}
      minWidth={900}
      empty={{ title: 'No recent requests', description: 'Sites appear here when jobs run.' }}
    />
  );
}

const badges = {
  unused: { color: 'gray', label: 'Not used yet' },
  ok: { color: 'teal', label: 'OK' },
  paused: { color: 'red', label: 'Paused' },
  trial: { color: 'yellow', label: 'Trial request' },
  ready: { color: 'yellow', label: 'Pause over' },
} as const;

/** State of an origin, with the cause and end of a pause. */
function State({ origin }: { origin: Origin }) {
  const { pausedUntil, reason, strikes: failures, since } = origin; // cspell:disable-line
  const state = originState(
    {
      pausedUntilMs: pausedUntil && timestampMs(pausedUntil),
      probing: origin.probing,
      minutes: origin.minutes,
    },
    Date.now(),
  );
  const { color, label } = badges[state];
  return (
    <Stack gap={2} align="flex-start">
      <Badge color={color}>{label}</Badge>
      {pausedUntil && (
        <Text size="xs" span>
          {failureGuide(reason).heading}.{' '}
          {state === 'paused' ? <PauseEnd at={pausedUntil} /> : null}
          {state === 'ready' ? 'The next request is a trial. ' : null}
          {failures === 1 ? '1 failure' : `${failures} failures in a row`} since{' '}
          <Moment at={since} />.
        </Text>
      )}
    </Stack>
  );
}

function PauseEnd({ at }: { at: NonNullable<Origin['pausedUntil']> }) {
  return (
    <>
      Next request <Moment at={at} relative />.{' '}
    </>
  );
}

/** Size of a line of requests, in pixels. */
const lineSize = { width: 110, height: 24 };

/** Area below a series of counts, from 0. Decoration of a text: without axes, drawn as one path. */
function RequestLine({ values }: { values: readonly number[] }) {
  const { width, height } = lineSize;
  const max = Math.max(1, ...values);
  const points = values.map((value, at) => {
    const x = (at / Math.max(1, values.length - 1)) * width;
    const y = height - 1 - (value / max) * (height - 2);
    return `${x.toFixed(1)},${y.toFixed(1)}`;
  });
  const line = `M${points.join('L')}`;
  return (
    <svg aria-hidden width={width} height={height} style={{ color: 'var(--mantine-color-moss-6)' }}>
      <path d={`${line}V${height}H0Z`} fill="currentColor" fillOpacity={0.2} />
      <path d={line} fill="none" stroke="currentColor" strokeWidth={2} />
    </svg>
  );
}
