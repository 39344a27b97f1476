import { timestampDate } from '@bufbuild/protobuf/wkt';
import { AreaChart } from '@mantine/charts';
import { EmptyState, Skeleton } from '@mantine/core';
import { IconChartArea } from '@tabler/icons-react';
import type { Job } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { formatDuration } from '../../../src/present/time.ts';
import { ErrorAlert } from '../ui/errors/ErrorAlert.tsx';
import { timeTicks } from '../ui/time/ticks.ts';
import { useProgress } from './TimeLeft.tsx';

/** Chart of a job's counts over the time since its start. */
export function ProgressChart({ job }: { job: Job }) {
  const { data, error, isPending, refetch } = useProgress(job);
  if (isPending) return <Skeleton height={220} />;
  if (error) return <ErrorAlert error={error} retry={refetch} />;
  // The progress counts units that never ran as failed.
  const maxFailed = job.failed - job.notRun;
  const points = data.points.flatMap(({ at, success, failed }) =>
    at
      ? [
          {
            ms: timestampDate(at).getTime(),
            Succeeded: success,
            Failed: Math.min(failed, maxFailed),
          },
        ]
      : [],
  );
  const last = points.at(-1);
  if (points.length < 2 || !last) {
    return (
      <EmptyState
        icon={<IconChartArea />}
        title="No progress yet"
        description="The chart appears when the first units end."
      />
    );
  }
  const begin = points[0]!.ms;
  const rows = points.map((point) => ({ ...point, after: (point.ms - begin) / 1000 }));
  const failures = last.Failed > 0 ? [{ name: 'Failed', color: 'red.6' }] : [];
  const label =
    `${last.Succeeded} succeeded and ${last.Failed} ` +
    `failed after ${formatDuration(last.ms - begin)}`;
  return (
    <div role="img" aria-label={`Progress over time: ${label}`}>
      <AreaChart
        h={220}
        data={rows}
        dataKey="after"
        type="stacked"
        curveType="linear"
        withDots={false}
        withLegend
        xAxisProps={{
          type: 'number',
          domain: [0, 'dataMax'],
          ticks: timeTicks((last.ms - begin) / 1000),
          tickFormatter: (seconds: number) => formatDuration(seconds * 1000),
        }}
        yAxisProps={{ domain: [0, job.total], allowDecimals: false }}
        tooltipProps={{ labelFormatter: (seconds) => formatDuration(Number(seconds) * 1000) }}
        series={[{ name: 'Succeeded', color: 'teal.6' }, ...failures]}
        accessibilityLayer={false}
      />
    </div>
  );
}
