import { useMutation } from '@connectrpc/connect-query';
import { Button } from '@mantine/core';
import { modals } from '@mantine/modals';
import type { Account } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { tellDone, tellFault } from '../fault/tell.ts';
import { useRefresh } from '../list/useRefresh.ts';

/** Suspends a user, or lets them in again. */
export function SuspendButton({ user }: { user: Account }) {
  const suspension = useMutation(OperatorService.method.suspendUser);
  const refresh = useRefresh();
  const set = (suspended: boolean) =>
    suspension
      .mutateAsync({ userId: user.id, suspended })
      .then(() => tellDone(suspended ? `${user.name} is suspended.` : `${user.name} is let in again.`))
      .then(refresh)
      .catch(tellFault);
  const ask = () =>
    modals.openConfirmModal({
      title: `Suspend ${user.name}?`,
      children: 'All of their keys are refused from now on. Work under way goes on.',
      labels: { confirm: 'Suspend', cancel: 'Not now' },
      confirmProps: { color: 'red' },
      onConfirm: () => void set(true),
    });
  return (
    <Button
      variant="default"
      loading={suspension.isPending}
      onClick={user.suspended ? () => void set(false) : ask}
    >
      {user.suspended ? 'Let in again' : 'Suspend'}
    </Button>
  );
}
