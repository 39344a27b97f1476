import type { Account } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { ActionButton, ConfirmButton } from '../ui/actions/ActionButton.tsx';

const { deleteUser, suspendUser: call } = OperatorService.method;

export function SuspendButton({ user: { id: userId, name, suspended } }: { user: Account }) {
  if (suspended)
    return (
      <ActionButton call={call} request={{ userId, suspended: false }} done={`${name} reactivated.`}>
        Reactivate
      </ActionButton>
    );
  return (
    <ConfirmButton
      call={call}
      request={{ userId, suspended: true }}
      question={{
        title: `Suspend ${name}?`,
        text: 'Their API keys stop working immediately. Running jobs continue.',
        confirm: 'Suspend',
      }}
      done={`${name} suspended.`}
    >
      Suspend
    </ConfirmButton>
  );
}

/** Button that deletes a user with everything but the ledger. */
export function DeleteUserButton({ user }: { user: Account }) {
  return (
    <ConfirmButton
      call={deleteUser}
      request={{ userId: user.id }}
      question={{
        title: `Delete ${user.name}?`,
        text: 'This removes the name, email address, API keys, jobs, and files, and cannot be undone. The ledger is kept without notes.',
        confirm: 'Delete user',
      }}
      done="User deleted. Jobs and files are removed within minutes."
      color="red"
    >
      Delete user
    </ConfirmButton>
  );
}
