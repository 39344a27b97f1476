import { useMutation } from '@connectrpc/connect-query';
import { Button, Group, Modal, NumberInput, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { Account } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { describeFault } from '../fault/describe.ts';
import { tellDone } from '../fault/tell.ts';
import { useRefresh } from '../list/useRefresh.ts';
import { countText } from '../number/text.ts';

interface CreditsModalProps {
  user: Account;
  opened: boolean;
  close: () => void;
}

/** Adds credits to a user's balance, or takes some back. */
export function CreditsModal({ user, opened, close }: CreditsModalProps) {
  const grant = useMutation(OperatorService.method.grantCredits);
  const refresh = useRefresh();
  const form = useForm<{ amount: number | string; note: string }>({
    initialValues: { amount: '', note: '' },
    validate: {
      amount: (value) =>
        Number.isSafeInteger(value) && value !== 0 ? null : 'Enter a whole number that is not 0.',
      note: (value) => (value.length <= 1000 ? null : 'At most 1,000 characters.'),
    },
  });
  const submit = form.onSubmit(async ({ amount, note }) => {
    try {
      const { balance } = await grant.mutateAsync({ userId: user.id, amount: BigInt(amount), note });
      tellDone(`${user.name} has ${countText(balance)} credits now.`);
      form.reset();
      close();
      await refresh();
    } catch (error) {
      form.setFieldError('amount', describeFault(error).detail);
    }
  });
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={`Credits of ${user.name}`}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form onSubmit={submit} noValidate>
        <Stack>
          <NumberInput
            label="Credits to add"
            description={`The balance is ${countText(user.balance)}. A negative number takes back.`}
            allowDecimal={false}
            thousandSeparator=","
            required
            data-autofocus
            {...form.getInputProps('amount')}
          />
          <TextInput label="Note" description="Why: kept in the ledger." {...form.getInputProps('note')} />
          <Group justify="flex-end">
            <Button type="submit" loading={grant.isPending}>
              Add
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
