import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';
import { Skeleton, Stack, Text } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { useParams, useSearchParams } from 'react-router';
import { HistoryService, type Observation } from '../../../gen/gleaner/history/v1/history_pb.ts';
import {
  formatPrice,
  formatRating,
  placeText,
  priceText,
  stockText,
  valueName,
} from '../../../src/present/item.ts';
import { formatCount } from '../../../src/present/text.ts';
import { ErrorAlert } from '../ui/errors/ErrorAlert.tsx';
import { Id } from '../ui/Id.tsx';
import { Page } from '../ui/layout/Page.tsx';
import { Section } from '../ui/layout/Section.tsx';
import { ListTable } from '../ui/list/ListTable.tsx';
import type { ListColumn } from '../ui/list/list-content.ts';
import { useList } from '../ui/list/useList.ts';
import { Moment } from '../ui/time/Moment.tsx';
import { type ChartField, pointsOf } from './series.ts';

const ValueChart = lazy(async () => ({ default: (await import('./ValueChart.tsx')).ValueChart }));

const charts: readonly { field: ChartField; label: string }[] = [
  { field: 'price', label: 'Price' },
  { field: 'stock', label: 'Stock' },
  { field: 'sold', label: 'Sold' },
];

const columns: ListColumn<Observation>[] = [
  { title: 'Observed', cell: ({ observedAt }) => <Moment at={observedAt} /> },
  { title: 'Price', align: 'right', cell: ({ values }) => priceText(values) },
  { title: 'Stock', align: 'right', cell: ({ values }) => stockText(values) },
  {
    title: 'Sold',
    align: 'right',
    cell: ({ values }) => (values?.sold === undefined ? '–' : formatCount(values.sold)),
  },
  {
    title: 'Rating',
    align: 'right',
    cell: ({ values }) => (values?.rating === undefined ? '–' : formatRating(values.rating)),
  },
];

/** Returns the columns of an item that was first read at a time, which is no change. */
const columnsOf = (firstAt: Timestamp | undefined): ListColumn<Observation>[] => [
  ...columns,
  {
    title: 'Changed',
    cell: ({ observedAt, changed }) =>
      isSameTime(observedAt, firstAt) ? 'First read' : changed.map(valueName).join(', '),
  },
  {
    title: 'Job',
    cell: ({ jobId }) => <Id of="jobs" value={jobId} />,
  },
];

const isSameTime = (one: Timestamp | undefined, other: Timestamp | undefined): boolean =>
  one !== undefined && other !== undefined && timestampMs(one) === timestampMs(other);

/** History of an item: charts of its values over time, and its observations. */
export function ItemPage() {
  const { market = '', region = '', key = '' } = useParams();
  const [search] = useSearchParams();
  const store = search.get('store') ?? '';
  const {
    query,
    rows: observations,
    first,
  } = useList(
    HistoryService.method.getHistory,
    { market, region, key, store, pageSize: 500 },
    (page) => page.observations,
  );
  const item = first?.item;
  const now = Date.now();
  const drawn = charts
    .map((chart) => ({ ...chart, points: pointsOf(observations, chart.field, now) }))
    .filter(({ points }) => points.length > 1);
  return (
    <Page
      title={item?.values?.title ?? key}
      description={
        <Text size="sm" c="dimmed">
          {key} on {placeText({ market, region, store })}
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
                <ValueChart
                  label={label}
                  points={points}
                  format={(value) =>
                    field === 'price'
                      ? formatPrice(value, item?.values?.currency)
                      : formatCount(value)
                  }
                />
              </Suspense>
            </Section>
          ))}
          <Section title="Observations">
            <ListTable
              label="Observations"
              rows={observations}
              keyOf={({ jobId, observedAt }) => `${jobId} ${observedAt?.seconds}`}
              query={query}
              columns={columnsOf(item?.firstAt)}
              empty={{ title: 'No observations' }}
            />
          </Section>
        </Stack>
      )}
    </Page>
  );
}
