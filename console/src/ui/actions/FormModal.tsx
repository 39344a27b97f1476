import type { DescMethod } from '@bufbuild/protobuf';
import { Button, Group, Modal, Stack } from '@mantine/core';
import { type FormEvent, type ReactNode, useEffect, useState } from 'react';
import { CallButton } from '../permission/CallButton.tsx';

interface FormModalProps {
  title: string;
  /** Whether the dialog is shown; default true. */
  opened?: boolean;
  close: () => void;
  onSubmit: (event: FormEvent<HTMLFormElement>) => void;
  /** Label of the button that submits. */
  submit: string;
  call?: DescMethod;
  color?: string;
  busy: boolean;
  children: ReactNode;
}

/**
 * Returns the focus to where it was when a dialog ends by being removed, which closes it without a
 * trace.
 */
function useFocusReturn(): void {
  const [before] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      if (before instanceof HTMLElement) setTimeout(() => before.focus());
    },
    [before],
  );
}

/** Dialog with a form. A click beside it keeps it open, so that no input is lost by a slip. */
export function FormModal(props: FormModalProps) {
  const { title, opened = true, close, onSubmit, submit, call, busy, children } = props;
  useFocusReturn();
  const look = {
    type: 'submit',
    loading: busy,
    ...(props.color ? { color: props.color } : {}),
  } as const;
  const handle = (event: FormEvent<HTMLFormElement>) => {
    // React passes the event on to the form that the dialog was opened from.
    event.stopPropagation();
    onSubmit(event);
  };
  return (
    <Modal opened={opened} onClose={close} title={title} closeOnClickOutside={false}>
      <form onSubmit={handle} noValidate>
        <Stack>
          {children}
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              Back
            </Button>
            {call ? (
              <CallButton call={call} {...look}>
                {submit}
              </CallButton>
            ) : (
              <Button {...look}>{submit}</Button>
            )}
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
