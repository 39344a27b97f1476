import { ActionIcon, Menu } from '@mantine/core';
import { IconDots, IconTerminal2, IconTrash } from '@tabler/icons-react';
import { lazy, Suspense, useRef, useState } from 'react';
import { type Job, JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { useAction } from '../ui/actions/ActionButton.tsx';
import { ConfirmModal } from '../ui/actions/ConfirmModal.tsx';
import { useRefusal } from '../ui/permission/CallButton.tsx';

const CurlModal = lazy(async () => ({ default: (await import('./CurlModal.tsx')).CurlModal }));

/** Menu with the rare actions of a job. */
export function JobMenu({ job }: { job: Job }) {
  const [dialog, setDialog] = useState<'curl' | 'delete' | null>(null);
  const call = JobService.method.deleteFiles;
  const refusal = useRefusal(call);
  const { run } = useAction(call, 'Files deleted.');
  const button = useRef<HTMLButtonElement>(null);
  const close = () => {
    setDialog(null);
    // The item that opened the dialog is gone.
    button.current?.focus();
  };
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon ref={button} variant="default" size="input-sm" aria-label="More actions">
            <IconDots size={16} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            leftSection={<IconTerminal2 size={16} aria-hidden />}
            onClick={() => setDialog('curl')}
          >
            Copy as curl
          </Menu.Item>
          {job.ended && !job.filesDeletedAt && job.success > 0 && (
            <Menu.Item
              color="var(--mantine-color-error)"
              leftSection={<IconTrash size={16} aria-hidden />}
              disabled={refusal !== null}
              title={refusal ?? undefined}
              onClick={() => setDialog('delete')}
            >
              Delete files
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      <Suspense>{dialog === 'curl' && <CurlModal job={job} close={close} />}</Suspense>
      <ConfirmModal
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
