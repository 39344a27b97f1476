import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';
import { useDisclosure } from '@mantine/hooks';
import { IconFileSearch, IconPlayerStop, IconReload } from '@tabler/icons-react';
import { useNavigate } from 'react-router';
import { type Job, JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { findJobType } from '../../../src/contract/job-types.ts';
import { formatCount, formatUnits } from '../../../src/present/text.ts';
import { ConfirmButton, useAction } from '../ui/actions/ActionButton.tsx';
import { DecisionButtons } from '../ui/jobs/DecisionButtons.tsx';
import { CallButton } from '../ui/permission/CallButton.tsx';
import { ReasonModal } from '../ui/reason/ReasonModal.tsx';
import { maxDraftUnits } from '../ui/request/draft.ts';
import { useSession } from '../ui/session/session.ts';
import { JobMenu } from './JobMenu.tsx';
import { DownloadMenu } from './records/DownloadMenu.tsx';

/** Actions available in the job's current state. */
export function JobActions({ job }: { job: Job }) {
  const operator = useSession().role === 'operator';
  return (
    <>
      {operator && job.status === 'awaiting_approval' && <DecisionButtons job={job} />}
      {!job.ended && !(operator && job.status === 'awaiting_approval') && <Cancel job={job} />}
      {hasPages(job) && <Reread job={job} />}
      {!operator && <RunAgain job={job} />}
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
  const text = [
    `This creates a new job with the ${formatUnits(total)} of this one. It reads the ${formatCount(keptPages?.kept ?? 0)} kept pages`,
    `with the current readers, at the price of reused results${operator ? ', charged to its owner' : ''}. No page is fetched.`,
  ].join(' ');
  return (
    <ConfirmButton
      call={JobService.method.rereadJob}
      request={{ jobId }}
      question={{ title: 'Reread the pages of this job?', text, confirm: 'Reread pages', isHarmless: true }}
      done={(created) => {
        void navigate(`/jobs/${created.jobId}`);
        return 'New job created.';
      }}
      leftSection={<IconFileSearch size={16} aria-hidden />}
    >
      Reread pages
    </ConfirmButton>
  );
}

/** Link to the submit form with the request of a job. */
function RunAgain({ job: { jobId, market, kind, total } }: { job: Job }) {
  const navigate = useNavigate();
  const jobType = findJobType({ market, kind });
  if (!jobType) return null;
  return (
    <CallButton
      call={jobType.method}
      refusal={
        total > maxDraftUnits
          ? `Jobs of more than ${formatUnits(maxDraftUnits)} are submitted by file.`
          : null
      }
      variant="default"
      leftSection={<IconReload size={16} aria-hidden />}
      onClick={() => void navigate(`/submit/${market}/${kind}?job=${jobId}`)}
    >
      Run again
    </CallButton>
  );
}

function Cancel({ job: { jobId } }: { job: Job }) {
  const call = JobService.method.cancelJob;
  const operator = useSession().role === 'operator';
  const [opened, { open, close }] = useDisclosure();
  const done = 'Job cancelled. Outstanding units are refunded.';
  const { run, busy } = useAction(call, done);
  const leftSection = <IconPlayerStop size={16} aria-hidden />;
  const title = 'Cancel this job?';
  const text = 'Results so far are kept. Outstanding units are refunded.';
  const confirm = 'Cancel job';
  if (!operator)
    return (
      <ConfirmButton
        call={call}
        request={{ jobId }}
        question={{ title, text, confirm }}
        done={done}
        leftSection={leftSection}
      >
        Cancel job
      </ConfirmButton>
    );
  return (
    <>
      <CallButton call={call} variant="default" leftSection={leftSection} loading={busy} onClick={open}>
        Cancel job
      </CallButton>
      <ReasonModal
        opened={opened}
        title={title}
        description={`${text} The user sees the reason.`}
        confirm={confirm}
        busy={busy}
        close={close}
        onConfirm={async (reason) => {
          await run({ jobId, reason });
          close();
        }}
      />
    </>
  );
}
