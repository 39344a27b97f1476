import { useMutation } from '@connectrpc/connect-query';
import { modals } from '@mantine/modals';
import type { Account } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { useAttempt } from '../errors/useAttempt.ts';
import { CallButton } from '../permission/CallButton.tsx';

/** Button that deletes a user with everything but the ledger. */
export function DeleteUserButton({ user }: { user: Account }) {
  const deletion = useMutation(OperatorService.method.deleteUser);
  const attempt = useAttempt();
  const run = () =>
    attempt(
      deletion.mutateAsync({ userId: user.id }),
      'User deleted. Jobs and files are removed within minutes.',
    );
  const confirm = () =>
    modals.openConfirmModal({
      title: `Delete ${user.name}?`,
      children:
        'This removes the name, email address, API keys, jobs, and files, and cannot be undone. The ledger is kept without notes.',
      labels: { confirm: 'Delete user', cancel: 'Back' },
      confirmProps: { color: 'red' },
      onConfirm: () => void run(),
    });
  return (
    <CallButton
      call={OperatorService.method.deleteUser}
      variant="default"
      color="red"
      loading={deletion.isPending}
      onClick={confirm}
    >
      Delete user
    </CallButton>
  );
}
