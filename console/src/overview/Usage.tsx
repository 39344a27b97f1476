import { useQuery } from '@connectrpc/connect-query';
import { Box, SegmentedControl, Skeleton, Text } from '@mantine/core';
import { lazy, type ReactNode, Suspense, useEffect, useRef, useState } from 'react';
import { AccountService } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { counted, formatCount } from '../../../src/present/text.ts';
import { ErrorAlert } from '../ui/errors/ErrorAlert.tsx';
import { Section } from '../ui/layout/Section.tsx';
import { pollMs } from '../ui/queries.ts';

const UsageChart = lazy(async () => ({
  default: (await import('./UsageChart.tsx')).UsageChart,
}));

const spans = [
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
];

/** Chart of credits charged and refunded per day. */
export function Usage() {
  const [days, setDays] = useState('30');
  const { data, error, isPending, refetch } = useQuery(
    AccountService.method.getUsage,
    { days: Number(days) },
    { refetchInterval: pollMs.idle },
  );
  const rows = (data?.days ?? []).map(({ day, charged, refunded, jobs }) => ({
    day: day.slice(5),
    Charged: Number(charged),
    Refunded: Number(refunded),
    jobs,
  }));
  const sum = (select: (row: (typeof rows)[number]) => number) =>
    rows.reduce((total, row) => total + select(row), 0);
  // Jobs without a charge, such as those on test data, are not counted.
  const chargedJobs = counted(
    sum(({ jobs }) => jobs),
    'job',
  );
  const summary = `${counted(
    sum(({ Charged }) => Charged),
    'credit',
  )} charged for ${chargedJobs}, ${formatCount(sum(({ Refunded }) => Refunded))} refunded`;
  return (
    <Section
      title="Usage"
      description={data ? summary : undefined}
      actions={
        <SegmentedControl
          aria-label="Period"
          size="xs"
          value={days}
          onChange={setDays}
          data={spans}
        />
      }
    >
      {isPending && <Skeleton height={220} />}
      {error && !data && <ErrorAlert error={error} retry={refetch} />}
      {data && (
        <div role="img" aria-label={`Usage over ${days} days: ${summary}`}>
          <WhenVisible height={220}>
            <UsageChart rows={rows} />
          </WhenVisible>
        </div>
      )}
      {data && (
        <Text size="xs" c="dimmed">
          Days are in UTC.
        </Text>
      )}
    </Section>
  );
}

interface WhenVisibleProps {
  /** Height of the content. */
  height: number;
  children: ReactNode;
}

/** Mounts its content, whose code may be large, once it is scrolled near the window. */
function WhenVisible({ height, children }: WhenVisibleProps) {
  const box = useRef<HTMLDivElement>(null);
  const [isNear, setNear] = useState(false);
  useEffect(() => {
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setNear(true);
      },
      { rootMargin: '200px' },
    );
    if (box.current && !isNear) observer.observe(box.current);
    return () => observer.disconnect();
  }, [isNear]);
  return (
    <Box ref={box} mih={height}>
      {isNear && <Suspense fallback={<Skeleton height={height} />}>{children}</Suspense>}
    </Box>
  );
}
