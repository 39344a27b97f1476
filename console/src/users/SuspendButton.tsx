import { useMutation } from '@connectrpc/connect-query';
import { modals } from '@mantine/modals';
import type { Account } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { useAttempt } from '../errors/useAttempt.ts';
import { CallButton } from '../permission/CallButton.tsx';

/** Button that suspends or reactivates a user. */
export function SuspendButton({ user }: { user: Account }) {
  const suspension = useMutation(OperatorService.method.suspendUser);
  const attempt = useAttempt();
  const set = (suspended: boolean) =>
    attempt(
      suspension.mutateAsync({ userId: user.id, suspended }),
      suspended ? `${user.name} suspended.` : `${user.name} reactivated.`,
    );
  const confirm = () =>
    modals.openConfirmModal({
      title: `Suspend ${user.name}?`,
      children: 'Their API keys stop working immediately. Running jobs continue.',
      labels: { confirm: 'Suspend', cancel: 'Back' },
      confirmProps: { color: 'red' },
      onConfirm: () => void set(true),
    });
  return (
    <CallButton
      call={OperatorService.method.suspendUser}
      variant="default"
      loading={suspension.isPending}
      onClick={user.suspended ? () => void set(false) : confirm}
    >
      {user.suspended ? 'Reactivate' : 'Suspend'}
    </CallButton>
  );
}
