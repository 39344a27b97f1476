import { useMutation } from '@connectrpc/connect-query';
import { Group } from '@mantine/core';
import { useState } from 'react';
import { OperatorScheduleService, type Schedule } from '../../../gen/gleaner/schedule/v1/schedule_pb.ts';
import { useAttempt } from '../errors/useAttempt.ts';
import { CallButton } from '../permission/CallButton.tsx';
import { ReasonModal } from '../reason/ReasonModal.tsx';

const { method } = OperatorScheduleService;

/** Buttons with which an operator approves or rejects a schedule. */
export function DecisionButtons({
  schedule: { scheduleId, updatedAt },
}: {
  schedule: Pick<Schedule, 'scheduleId' | 'updatedAt'>;
}) {
  const attempt = useAttempt();
  const approve = useMutation(method.approveSchedule);
  const reject = useMutation(method.rejectSchedule);
  const [isRejecting, setIsRejecting] = useState(false);
  const busy = approve.isPending || reject.isPending;
  return (
    <Group gap={6} wrap="nowrap">
      <CallButton
        call={method.approveSchedule}
        size="compact-sm"
        disabled={busy}
        onClick={() => attempt(approve.mutateAsync({ scheduleId, updatedAt }), 'Schedule approved.')}
      >
        Approve
      </CallButton>
      <CallButton
        call={method.rejectSchedule}
        size="compact-sm"
        variant="default"
        disabled={busy}
        onClick={() => setIsRejecting(true)}
      >
        Reject
      </CallButton>
      <ReasonModal
        opened={isRejecting}
        title="Reject this schedule?"
        description="It will not run. The user sees the reason."
        confirm="Reject"
        busy={busy}
        close={() => setIsRejecting(false)}
        onConfirm={async (reason) => {
          setIsRejecting(false);
          await attempt(reject.mutateAsync({ scheduleId, reason }), 'Schedule rejected.');
        }}
      />
    </Group>
  );
}
