import { useQuery } from '@connectrpc/connect-query';
import { JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { ScheduleService } from '../../../gen/gleaner/schedule/v1/schedule_pb.ts';
import { seriesOf } from '../../../src/contract/track.ts';

/** Jobs and schedules whose series are offered. */
const pageSize = 100;

/**
 * Returns the series of the caller's latest jobs and schedules with their labels, and `chosen` if it is not
 * empty.
 */
export function useSeries(chosen: string): { value: string; label: string }[] {
  const jobs = useQuery(JobService.method.listJobs, { pageSize }).data?.jobs ?? [];
  const schedules = useQuery(ScheduleService.method.listSchedules, { pageSize }).data?.schedules ?? [];
  const labels = new Map<string, string>();
  for (const { scheduleId, name, options } of schedules) {
    const series = seriesOf(options?.track);
    if (series === '') labels.set(`schedule-${scheduleId}`, `Schedule “${name}”`);
    else if (series !== null) labels.set(series, series);
  }
  for (const series of [...jobs.map(({ options }) => seriesOf(options?.track)), chosen])
    if (series && !labels.has(series)) labels.set(series, series);
  return [...labels].map(([value, label]) => ({ value, label }));
}
