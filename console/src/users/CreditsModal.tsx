import { NumberInput, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { Account } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { counted, formatCount } from '../../../src/present/text.ts';
import { useAction } from '../ui/actions/ActionButton.tsx';
import { FormModal } from '../ui/actions/FormModal.tsx';
import { fieldErrors } from '../ui/errors/describe.ts';

interface CreditsModalProps {
  user: Account;
  opened: boolean;
  close: () => void;
}

/** Dialog that adds credits to a user's balance or removes some. */
export function CreditsModal({ user, opened, close }: CreditsModalProps) {
  const form = useForm<{ amount: number | string; note: string }>({
    initialValues: { amount: '', note: '' },
    validate: {
      amount: (value) =>
        Number.isSafeInteger(value) && value !== 0 ? null : 'Enter a whole number other than 0.',
      note: (value) => (value.length <= 1000 ? null : 'Enter at most 1,000 characters.'),
    },
  });
  const { run, busy } = useAction(
    OperatorService.method.grantCredits,
    ({ balance }) => {
      form.reset();
      close();
      return `Balance updated: ${counted(balance, 'credit')}.`;
    },
    (error) => form.setErrors(fieldErrors(error, ['amount', 'note'], 'amount')),
  );
  const submit = form.onSubmit(
    ({ amount, note }) => void run({ userId: user.id, amount: BigInt(amount), note }),
  );
  return (
    <FormModal
      opened={opened}
      close={close}
      title={`Adjust credits for ${user.name}`}
      onSubmit={submit}
      submit="Adjust credits"
      call={OperatorService.method.grantCredits}
      busy={busy}
    >
      <NumberInput
        label="Credits to add"
        description={`Current balance: ${formatCount(user.balance)}. Enter a negative number to remove credits.`}
        thousandSeparator=","
        required
        data-autofocus
        {...form.getInputProps('amount')}
      />
      <TextInput label="Note" description="Shown in the ledger" {...form.getInputProps('note')} />
    </FormModal>
  );
}
