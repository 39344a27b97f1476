import { timestampDate } from '@bufbuild/protobuf/wkt';
import { useQuery } from '@connectrpc/connect-query';
import { AreaChart } from '@mantine/charts';
import { EmptyState, Skeleton } from '@mantine/core';
import { IconChartArea } from '@tabler/icons-react';
import type { Job } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { every } from '../app/queries.ts';
import { FaultAlert } from '../fault/FaultAlert.tsx';
import { useSession } from '../session/session.ts';
import { lengthText } from '../time/text.ts';
import { ticksOf } from '../time/ticks.ts';
import { progressMethods } from './methods.ts';

/** How a job's counts grew, over the time since its start. */
export function ProgressChart({ job }: { job: Job }) {
  const { role } = useSession();
  const { data, error, isPending, refetch } = useQuery(
    progressMethods(role),
    { jobId: job.jobId },
    { refetchInterval: job.ended ? false : every.running },
  );
  if (isPending) return <Skeleton height={220} />;
  if (error) return <FaultAlert error={error} retry={refetch} />;
  const points = data.points.flatMap(({ at, success, failed }) =>
    at ? [{ ms: timestampDate(at).getTime(), Done: success, Failed: failed }] : [],
  );
  if (points.length < 2) {
    return (
      <EmptyState
        icon={<IconChartArea />}
        title="Nothing to draw yet"
        description="The chart begins with the first units."
      />
    );
  }
  const begin = points[0]!.ms;
  const rows = points.map((point) => ({ ...point, after: (point.ms - begin) / 1000 }));
  const last = points.at(-1)!;
  return (
    <div
      role="img"
      aria-label={`Progress over time: ${last.Done} done and ${last.Failed} failed after ${lengthText(last.ms - begin)}`}
    >
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
          ticks: ticksOf((last.ms - begin) / 1000),
          tickFormatter: (seconds: number) => lengthText(seconds * 1000),
        }}
        yAxisProps={{ domain: [0, job.total], allowDecimals: false }}
        tooltipProps={{ labelFormatter: (seconds) => lengthText(Number(seconds) * 1000) }}
        series={[
          { name: 'Done', color: 'teal.6' },
          { name: 'Failed', color: 'red.6' },
        ]}
        accessibilityLayer={false}
      />
    </div>
  );
}
