import { useMutation } from '@connectrpc/connect-query';
import { Button, Group, Modal, NumberInput, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import type { Account } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { describeError } from '../errors/describe.ts';
import { showSuccess } from '../errors/toast.ts';
import { useRefresh } from '../list/useRefresh.ts';
import { formatCount } from '../number/format.ts';

interface CreditsModalProps {
  user: Account;
  opened: boolean;
  close: () => void;
}

/** Dialog that adds credits to a user's balance or removes some. */
export function CreditsModal({ user, opened, close }: CreditsModalProps) {
  const grant = useMutation(OperatorService.method.grantCredits);
  const refresh = useRefresh();
  const form = useForm<{ amount: number | string; note: string }>({
    initialValues: { amount: '', note: '' },
    validate: {
      amount: (value) =>
        Number.isSafeInteger(value) && value !== 0 ? null : 'Enter a whole number other than 0.',
      note: (value) => (value.length <= 1000 ? null : 'Enter at most 1,000 characters.'),
    },
  });
  const submit = form.onSubmit(async ({ amount, note }) => {
    try {
      const { balance } = await grant.mutateAsync({ userId: user.id, amount: BigInt(amount), note });
      showSuccess(`Balance updated: ${formatCount(balance)} credits.`);
      form.reset();
      close();
      await refresh();
    } catch (error) {
      form.setFieldError('amount', describeError(error).detail);
    }
  });
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={`Adjust credits for ${user.name}`}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form onSubmit={submit} noValidate>
        <Stack>
          <NumberInput
            label="Credits to add"
            description={`Current balance: ${formatCount(user.balance)}. Enter a negative number to remove credits.`}
            allowDecimal={false}
            thousandSeparator=","
            required
            data-autofocus
            {...form.getInputProps('amount')}
          />
          <TextInput label="Note" description="Shown in the ledger" {...form.getInputProps('note')} />
          <Group justify="flex-end">
            <Button type="submit" loading={grant.isPending}>
              Adjust credits
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
