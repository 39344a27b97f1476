import { useQuery } from '@connectrpc/connect-query';
import { IconRefresh } from '@tabler/icons-react';
import { useNavigate } from 'react-router';
import { type Job, JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { isFinalFailure } from '../../../src/contract/final-failure.ts';
import { formatCount, formatUnits } from '../../../src/present/text.ts';
import { ConfirmButton } from '../ui/actions/ActionButton.tsx';
import { useSession } from '../ui/session/session.ts';

/** Button that submits the failed units of an ended job again; absent if every failure is final. */
export function RetryButton({ job }: { job: Job }) {
  const { role } = useSession();
  const { data } = useQuery(JobService.method.listFaults, { jobId: job.jobId });
  const navigate = useNavigate();
  const units = (data?.faults ?? [])
    .filter(({ code }) => !isFinalFailure(code))
    .reduce((sum, group) => sum + group.units, 0);
  if (units === 0) return null;
  const isNotRun = job.failed === job.notRun;
  const leftOut = job.failed - units;
  const text = [
    `This creates a new job with the ${formatUnits(units)} that ${isNotRun ? 'did not run' : 'failed'},`,
    `for ${formatCount(units * job.unitPrice)} credits${role === 'operator' ? ', charged to its owner' : ''}.`,
    leftOut > 0
      ? `${formatUnits(leftOut)} would fail again and ${leftOut === 1 ? 'is' : 'are'} left out.`
      : '',
  ].join(' ');
  return (
    <ConfirmButton
      call={JobService.method.retryJob}
      request={{ jobId: job.jobId }}
      question={{
        title: isNotRun ? 'Resubmit units?' : 'Retry failed units?',
        text,
        confirm: isNotRun ? 'Resubmit' : 'Retry',
        isHarmless: true,
      }}
      done={(created) => {
        void navigate(`/jobs/${created.jobId}`);
        return 'New job created.';
      }}
      style={{ alignSelf: 'flex-start' }}
      icon={IconRefresh}
    >
      {isNotRun ? 'Resubmit units' : 'Retry failed units'}
    </ConfirmButton>
  );
}
