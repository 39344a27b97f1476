import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useMountedOpen } from '../layout/useMountedOpen.ts';

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

export interface ConfirmModalProps extends Question {
  opened: boolean;
  close: () => void;
  onConfirm: () => void;
}

/** Dialog of a Confirmation. A file of its own, because it is loaded with its first use. */
export function ConfirmModal(props: ConfirmModalProps) {
  const { opened, close, onConfirm, title, text, confirm, isHarmless = false } = props;
  const isOpen = useMountedOpen(opened);
  const run = () => {
    close();
    onConfirm();
  };
  return (
    <Modal opened={isOpen} onClose={close} title={title}>
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
