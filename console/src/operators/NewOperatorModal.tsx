import { TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { useAction } from '../ui/actions/ActionButton.tsx';
import { FormModal } from '../ui/actions/FormModal.tsx';
import { describeError } from '../ui/errors/describe.ts';

/** Dialog that creates an operator. */
export function NewOperatorModal({ opened, close }: { opened: boolean; close: () => void }) {
  const form = useForm({
    initialValues: { name: '' },
    validate: {
      name: (value) => (/^.{1,200}$/.test(value.trim()) ? null : 'Enter a name of 1 to 200 characters.'),
    },
  });
  const { run, busy } = useAction(
    OperatorService.method.createOperator,
    () => {
      form.reset();
      close();
      return 'Operator created. Create an API key for them next.';
    },
    (error) => form.setFieldError('name', describeError(error).detail),
  );
  return (
    <FormModal
      opened={opened}
      close={close}
      title="Create operator"
      onSubmit={form.onSubmit(({ name }) => void run({ name: name.trim() }))}
      submit="Create operator"
      call={OperatorService.method.createOperator}
      busy={busy}
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
