import { useMutation } from '@connectrpc/connect-query';
import { modals } from '@mantine/modals';
import { IconTrash } from '@tabler/icons-react';
import { type Job, JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { useAttempt } from '../errors/useAttempt.ts';
import { CallButton } from '../permission/CallButton.tsx';

/** Button that deletes the result files of an ended job. */
export function DeleteFilesButton({ job: { jobId } }: { job: Job }) {
  const deletion = useMutation(JobService.method.deleteFiles);
  const attempt = useAttempt();
  const run = () => attempt(deletion.mutateAsync({ jobId }), 'Files deleted.');
  const confirm = () =>
    modals.openConfirmModal({
      title: 'Delete the files of this job?',
      children: 'Its results can no longer be downloaded. The job, its units, and its charges are kept.',
      labels: { confirm: 'Delete files', cancel: 'Back' },
      confirmProps: { color: 'red' },
      onConfirm: () => void run(),
    });
  return (
    <CallButton
      call={JobService.method.deleteFiles}
      variant="default"
      leftSection={<IconTrash size={16} aria-hidden />}
      loading={deletion.isPending}
      onClick={confirm}
    >
      Delete files
    </CallButton>
  );
}
