import { ActionIcon } from '@mantine/core';
import { IconDots, IconShare, IconTerminal2, IconTrash } from '@tabler/icons-react';
import { lazy, Suspense, useRef, useState } from 'react';
import { type Job, JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { useAction } from '../ui/actions/ActionButton.tsx';
import { Confirmation } from '../ui/actions/Confirmation.tsx';
import { useRefusal } from '../ui/permission/CallButton.tsx';
import { MenuButton } from '../ui/popup/MenuButton.tsx';
import type { MenuAction } from '../ui/popup/MenuDropdown.tsx';

const CurlModal = lazy(async () => ({ default: (await import('./CurlModal.tsx')).CurlModal }));
const ShareModal = lazy(async () => ({ default: (await import('./ShareModal.tsx')).ShareModal }));

/** Menu with the rare actions of a job. */
export function JobMenu({ job }: { job: Job }) {
  const [dialog, setDialog] = useState<'share' | 'curl' | 'delete' | null>(null);
  const call = JobService.method.deleteFiles;
  const refusal = useRefusal(call);
  const { run } = useAction(call, 'Files deleted.');
  const button = useRef<HTMLButtonElement>(null);
  const close = () => {
    setDialog(null);
    // The item that opened the dialog is gone.
    button.current?.focus();
  };
  const actions: MenuAction[] = [
    { label: 'Share results', icon: IconShare, run: () => setDialog('share') },
    { label: 'Copy as curl', icon: IconTerminal2, run: () => setDialog('curl') },
  ];
  if (job.ended && !job.filesDeletedAt && job.success > 0)
    actions.push({
      label: 'Delete files',
      icon: IconTrash,
      run: () => setDialog('delete'),
      isDangerous: true,
      refusal,
    });
  return (
    <>
      <MenuButton actions={actions}>
        <ActionIcon ref={button} variant="default" size="input-sm" aria-label="More actions">
          <IconDots size={16} aria-hidden />
        </ActionIcon>
      </MenuButton>
      <Suspense>
        {dialog === 'share' && <ShareModal job={job} close={close} />}
        {dialog === 'curl' && <CurlModal job={job} close={close} />}
      </Suspense>
      <Confirmation
        opened={dialog === 'delete'}
        title="Delete the files of this job?"
        text="Its results can no longer be downloaded. The job, its units, and its charges are kept."
        confirm="Delete files"
        close={close}
        onConfirm={() => void run({ jobId: job.jobId })}
      />
    </>
  );
}
