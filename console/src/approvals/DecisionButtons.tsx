import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconCheck, IconX } from '@tabler/icons-react';
import { useEffect } from 'react';
import type { Job } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { tellFault } from '../fault/tell.ts';
import { ReasonModal } from '../reason/ReasonModal.tsx';
import { useDecisions } from './useDecisions.ts';

/** Approves or rejects one job, on its own page. */
export function DecisionButtons({ job }: { job: Job }) {
  const { busy, refusals, approve, reject } = useDecisions();
  const [opened, { open, close }] = useDisclosure();
  const refusal = refusals.get(job.jobId);
  useEffect(() => {
    if (refusal !== undefined) tellFault(refusal);
  }, [refusal]);
  return (
    <>
      <Button loading={busy} leftSection={<IconCheck size={16} aria-hidden />} onClick={() => approve([job])}>
        Approve
      </Button>
      <Button variant="default" disabled={busy} leftSection={<IconX size={16} aria-hidden />} onClick={open}>
        Reject
      </Button>
      <ReasonModal
        opened={opened}
        title="Reject this job?"
        about="It ends without being worked on. The user sees the reason."
        confirm="Reject"
        busy={busy}
        close={close}
        decide={async (reason) => {
          close();
          await reject([job], reason);
        }}
      />
    </>
  );
}
