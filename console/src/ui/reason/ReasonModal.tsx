import { Text, Textarea } from '@mantine/core';
import { useForm } from '@mantine/form';
import { FormModal } from '../actions/FormModal.tsx';

interface ReasonModalProps {
  opened: boolean;
  title: string;
  description: string;
  /** Label of the confirm button. */
  confirm: string;
  busy: boolean;
  close: () => void;
  onConfirm: (reason: string) => Promise<unknown>;
}

const maxLength = 1_000;

/** Dialog that asks for a reason, shown to the user, before a job is rejected or cancelled. */
export function ReasonModal({
  opened,
  title,
  description,
  confirm,
  busy,
  close,
  onConfirm,
}: ReasonModalProps) {
  const form = useForm({
    initialValues: { reason: '' },
    validate: {
      reason: (value) =>
        value.length > maxLength
          ? `Enter at most ${maxLength} characters (now ${value.length}).`
          : null,
    },
  });
  return (
    <FormModal
      opened={opened}
      close={close}
      title={title}
      onSubmit={form.onSubmit(async ({ reason }) => {
        await onConfirm(reason.trim());
        form.reset();
      })}
      submit={confirm}
      color="red"
      busy={busy}
    >
      <Text size="sm">{description}</Text>
      <Textarea
        label="Reason"
        autosize
        minRows={2}
        data-autofocus
        {...form.getInputProps('reason')}
      />
    </FormModal>
  );
}
