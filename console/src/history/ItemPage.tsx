import { useInfiniteQuery } from '@connectrpc/connect-query';
import { Anchor, Skeleton, Stack, Text } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { Link, useParams } from 'react-router';
import { HistoryService, type Observation } from '../../../gen/gleaner/history/v1/history_pb.ts';
import { pollMs } from '../app/queries.ts';
import { ErrorAlert } from '../errors/ErrorAlert.tsx';
import { Page } from '../layout/Page.tsx';
import { Section } from '../layout/Section.tsx';
import { ListTable } from '../list/ListTable.tsx';
import type { Column } from '../list/list-content.ts';
import { Moment } from '../time/Moment.tsx';
import { placeText, priceText, stockText } from './place.ts';
import { type ChartField, pointsOf } from './series.ts';

const ValueChart = lazy(async () => ({ default: (await import('./ValueChart.tsx')).ValueChart }));

const charts: readonly { field: ChartField; label: string }[] = [
  { field: 'price', label: 'Price' },
  { field: 'stock', label: 'Stock' },
  { field: 'sold', label: 'Sold' },
];

const columns: Column<Observation>[] = [
  { title: 'Observed', cell: ({ observedAt }) => <Moment at={observedAt} /> },
  { title: 'Price', align: 'right', cell: ({ values }) => priceText(values) },
  { title: 'Stock', align: 'right', cell: ({ values }) => stockText(values) },
  { title: 'Sold', align: 'right', cell: ({ values }) => values?.sold?.toLocaleString('en-US') ?? '–' },
  { title: 'Rating', align: 'right', cell: ({ values }) => values?.rating?.toFixed(1) ?? '–' },
  { title: 'Changed', cell: ({ changed }) => changed.join(', ') },
  {
    title: 'Job',
    cell: ({ jobId }) => (
      <Anchor component={Link} to={`/jobs/${jobId}`} size="sm">
        {jobId.slice(0, 8)}
      </Anchor>
    ),
  },
];

/** History of an item: charts of its values over time, and its observations. */
export function ItemPage() {
  const { market = '', region = '', key = '' } = useParams();
  const query = useInfiniteQuery(
    HistoryService.method.getHistory,
    { market, region, key, pageSize: 500, pageToken: '' },
    {
      pageParamKey: 'pageToken',
      getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
      refetchInterval: pollMs.list,
    },
  );
  const item = query.data?.pages[0]?.item;
  const observations = query.data?.pages.flatMap((page) => page.observations) ?? [];
  const now = Date.now();
  const drawn = charts
    .map((chart) => ({ ...chart, points: pointsOf(observations, chart.field, now) }))
    .filter(({ points }) => points.length > 1);
  return (
    <Page
      title={item?.values?.title ?? key}
      description={
        <Text size="sm" c="dimmed">
          {key} on {placeText({ market, region })}
        </Text>
      }
    >
      {query.error && observations.length === 0 ? (
        <ErrorAlert error={query.error} retry={query.refetch} />
      ) : (
        <Stack>
          {drawn.map(({ field, label, points }) => (
            <Section key={field} title={label}>
              <Suspense fallback={<Skeleton height={220} />}>
                <ValueChart label={label} points={points} />
              </Suspense>
            </Section>
          ))}
          <Section title="Observations">
            <ListTable
              label="Observations"
              rows={observations}
              keyOf={({ jobId, observedAt }) => `${jobId} ${observedAt?.seconds}`}
              query={query}
              columns={columns}
              empty={{ title: 'No observations' }}
            />
          </Section>
        </Stack>
      )}
    </Page>
  );
}
