import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';
import { IconFileSearch, IconPlayerStop, IconReload } from '@tabler/icons-react';
import { lazy, Suspense } from 'react';
import { useNavigate } from 'react-router';
import { type Job, JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { jobKinds, marketTitles } from '../../../gen/job-names.ts';
import { formatCount, formatUnits } from '../../../src/present/text.ts';
import { ConfirmButton } from '../ui/actions/ActionButton.tsx';
import { CallButton } from '../ui/permission/CallButton.tsx';
import { useSession } from '../ui/session/session.ts';
import { JobMenu } from './JobMenu.tsx';
import { DownloadMenu } from './records/DownloadMenu.tsx';

// Users do not load its code.
const OperatorActions = lazy(async () => ({
  default: (await import('./OperatorActions.tsx')).OperatorActions,
}));

const cancelTexts = {
  title: 'Cancel this job?',
  text: 'Results so far are kept. Outstanding units are refunded.',
  confirm: 'Cancel job',
  done: 'Job cancelled. Outstanding units are refunded.',
};

/** Actions available in the job's current state. */
export function JobActions({ job }: { job: Job }) {
  const operator = useSession().role === 'operator';
  return (
    <>
      {!job.ended && !operator && <Cancel job={job} />}
      <Suspense>
        {!job.ended && operator && <OperatorActions job={job} texts={cancelTexts} />}
      </Suspense>
      {hasPages(job) && <Reread job={job} />}
      {job.ended && !operator && <RunAgain job={job} />}
      {job.success > 0 && !job.filesDeletedAt && <DownloadMenu job={job} />}
      {!operator && <JobMenu job={job} />}
    </>
  );
}

const hasPages = ({ ended, keptPages }: Job) =>
  ended && keptPages?.deleteAt !== undefined && keptPages.kept > 0 && !isPast(keptPages.deleteAt);

const isPast = (at: Timestamp) => timestampMs(at) <= Date.now();

/** Button that reads the kept pages of a job again. */
function Reread({ job: { jobId, total, keptPages } }: { job: Job }) {
  const operator = useSession().role === 'operator';
  const navigate = useNavigate();
  const pages = formatCount(keptPages?.kept ?? 0);
  const payer = operator ? ', charged to its owner' : '';
  const text = [
    `This creates a new job with the ${formatUnits(total)} of this one.`,
    `It reads the ${pages} kept pages with the current readers,`,
    `at the price of reused results${payer}.`,
    'No page is fetched.',
  ].join(' ');
  return (
    <ConfirmButton
      call={JobService.method.rereadJob}
      request={{ jobId }}
      question={{
        title: 'Reread the pages of this job?',
        text,
        confirm: 'Reread pages',
        isHarmless: true,
      }}
      done={(created) => {
        void navigate(`/jobs/${created.jobId}`);
        return 'New job created.';
      }}
      icon={IconFileSearch}
    >
      Reread pages
    </ConfirmButton>
  );
}

/** Maximum units of a job whose request can be filled in again. */
const maxDraftUnits = 10_000;

/** Link to the submit form with the request of a job. */
function RunAgain({ job: { jobId, market, kind, total } }: { job: Job }) {
  const navigate = useNavigate();
  if (!jobKinds.includes(kind) || marketTitles[market] === undefined) return null;
  return (
    <CallButton
      // Requires what a submit requires.
      call={JobService.method.retryJob}
      refusal={
        total > maxDraftUnits
          ? `Jobs of more than ${formatUnits(maxDraftUnits)} are submitted by file.`
          : null
      }
      variant="default"
      icon={IconReload}
      onClick={() => void navigate(`/submit/${market}/${kind}?job=${jobId}`)}
    >
      Run again
    </CallButton>
  );
}

/** Button that cancels the caller's job. */
function Cancel({ job: { jobId } }: { job: Job }) {
  const { done, ...question } = cancelTexts;
  return (
    <ConfirmButton
      question={question}
      done={done}
      call={JobService.method.cancelJob}
      request={{ jobId }}
      icon={IconPlayerStop}
    >
      {question.confirm}
    </ConfirmButton>
  );
}
