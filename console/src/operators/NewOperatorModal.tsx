import { useMutation } from '@connectrpc/connect-query';
import { Button, Group, Modal, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { describeError } from '../errors/describe.ts';
import { showSuccess } from '../errors/toast.ts';
import { useRefresh } from '../list/useRefresh.ts';

/** Dialog that creates an operator. */
export function NewOperatorModal({ opened, close }: { opened: boolean; close: () => void }) {
  const creation = useMutation(OperatorService.method.createOperator);
  const refresh = useRefresh();
  const form = useForm({
    initialValues: { name: '' },
    validate: {
      name: (value) => (/^.{1,200}$/.test(value.trim()) ? null : 'Enter a name of 1 to 200 characters.'),
    },
  });
  const submit = form.onSubmit(async ({ name }) => {
    try {
      await creation.mutateAsync({ name: name.trim() });
      showSuccess('Operator created. Create an API key for them next.');
      form.reset();
      close();
      await refresh();
    } catch (error) {
      form.setFieldError('name', describeError(error).detail);
    }
  });
  return (
    <Modal
      opened={opened}
      onClose={close}
      title="Create operator"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <form onSubmit={submit} noValidate>
        <Stack>
          <TextInput
            label="Name"
            description="Name of the person or the program"
            required
            data-autofocus
            {...form.getInputProps('name')}
          />
          <Group justify="flex-end">
            <Button type="submit" loading={creation.isPending}>
              Create operator
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
