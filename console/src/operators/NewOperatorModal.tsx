import { useMutation } from '@connectrpc/connect-query';
import { TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { FormModal } from '../ui/actions/FormModal.tsx';
import { describeError } from '../ui/errors/describe.ts';
import { showSuccess } from '../ui/errors/toast.ts';
import { useRefresh } from '../ui/list/useRefresh.ts';

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
    <FormModal
      opened={opened}
      close={close}
      title="Create operator"
      onSubmit={submit}
      submit="Create operator"
      call={OperatorService.method.createOperator}
      busy={creation.isPending}
    >
      <TextInput
        label="Name"
        description="Name of the person or the program"
        required
        data-autofocus
        {...form.getInputProps('name')}
      />
    </FormModal>
  );
}
