import type { Account } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { ActionButton, ConfirmButton } from '../ui/actions/ActionButton.tsx';

const call = OperatorService.method.suspendUser;

/** Button that suspends or reactivates a user. */
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
