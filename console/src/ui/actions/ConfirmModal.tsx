import { Button, Group, Modal, Stack, Text } from '@mantine/core';

/** Question before an action. */
export interface Question {
  title: string;
  /** What happens. */
  text: string;
  /** Label of the button that confirms. */
  confirm: string;
  /** Whether the action can be undone; default false. */
  isHarmless?: boolean;
}

interface ConfirmModalProps extends Question {
  opened: boolean;
  close: () => void;
  onConfirm: () => void;
}

/** Dialog that asks before an action. */
export function ConfirmModal(props: ConfirmModalProps) {
  const { opened, close, onConfirm, title, text, confirm, isHarmless = false } = props;
  const run = () => {
    close();
    onConfirm();
  };
  return (
    <Modal opened={opened} onClose={close} title={title}>
      <Stack>
        <Text size="sm">{text}</Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={close} data-autofocus>
            Back
          </Button>
          <Button {...(isHarmless ? {} : { color: 'red' })} onClick={run}>
            {confirm}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
