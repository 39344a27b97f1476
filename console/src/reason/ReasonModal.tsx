import { Button, Group, Modal, Stack, Text, Textarea } from '@mantine/core';
import { useForm } from '@mantine/form';

interface ReasonModalProps {
  opened: boolean;
  title: string;
  about: string;
  /** What the button says that does it. */
  confirm: string;
  busy: boolean;
  close: () => void;
  decide: (reason: string) => Promise<unknown>;
}

const longest = 1_000;

/** Asks for a reason, which the user will see, before something is ended. */
export function ReasonModal({ opened, title, about, confirm, busy, close, decide }: ReasonModalProps) {
  const form = useForm({
    initialValues: { reason: '' },
    validate: {
      reason: (value) =>
        value.length > longest ? `At most ${longest} characters; these are ${value.length}.` : null,
    },
  });
  return (
    <Modal opened={opened} onClose={close} title={title} closeButtonProps={{ 'aria-label': 'Close' }}>
      <form
        onSubmit={form.onSubmit(async ({ reason }) => {
          await decide(reason.trim());
          form.reset();
        })}
      >
        <Stack>
          <Text size="sm">{about}</Text>
          <Textarea label="Reason" autosize minRows={2} data-autofocus {...form.getInputProps('reason')} />
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Not now
            </Button>
            <Button type="submit" color="red" loading={busy}>
              {confirm}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
