import { TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useNavigate } from 'react-router';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { useAction } from '../ui/actions/ActionButton.tsx';
import { FormModal } from '../ui/actions/FormModal.tsx';
import { describeError } from '../ui/errors/describe.ts';

/** Dialog that creates a user and opens their page. */
export function NewUserModal({ opened, close }: { opened: boolean; close: () => void }) {
  const navigate = useNavigate();
  const form = useForm({
    initialValues: { name: '', email: '' },
    validate: {
      name: (value) => (/^.{1,200}$/.test(value.trim()) ? null : 'Enter a name of 1 to 200 characters.'),
      email: (value) => (value.trim().length <= 320 ? null : 'Enter at most 320 characters.'),
    },
  });
  const { run, busy } = useAction(
    OperatorService.method.createUser,
    ({ user }) => {
      form.reset();
      close();
      void navigate(`/users/${user?.id}`);
      return null;
    },
    (error) => form.setFieldError('name', describeError(error).detail),
  );
  return (
    <FormModal
      opened={opened}
      close={close}
      title="Create user"
      onSubmit={form.onSubmit(({ name, email }) => void run({ name: name.trim(), email: email.trim() }))}
      submit="Create user"
      call={OperatorService.method.createUser}
      busy={busy}
    >
      <TextInput label="Name" required data-autofocus {...form.getInputProps('name')} />
      <TextInput label="Email address" description="Optional" type="email" {...form.getInputProps('email')} />
    </FormModal>
  );
}
