import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from '@bufbuild/protobuf';
import { useMutation } from '@connectrpc/connect-query';
import { useDisclosure } from '@mantine/hooks';
import { useAttempt } from '../errors/useAttempt.ts';
import { CallButton, type CallButtonProps } from '../permission/CallButton.tsx';
import { ConfirmModal, type Question } from './ConfirmModal.tsx';

interface ActionButtonProps<I extends DescMessage, O extends DescMessage>
  extends Omit<CallButtonProps, 'call' | 'onClick'> {
  call: DescMethodUnary<I, O>;
  request: MessageInitShape<I>;
  /** Message after the call, which may depend on the response; null shows none. */
  done: string | ((response: MessageShape<O>) => string | null);
}

/** Button that calls a method, shows the outcome, and reloads the data on screen. */
export function ActionButton<I extends DescMessage, O extends DescMessage>({
  call,
  request,
  done,
  ...props
}: ActionButtonProps<I, O>) {
  const { run, busy } = useAction(call, done);
  return (
    <CallButton variant="default" {...props} call={call} loading={busy} onClick={() => void run(request)} />
  );
}

/** Button that asks a question before it calls a method. */
export function ConfirmButton<I extends DescMessage, O extends DescMessage>({
  call,
  request,
  done,
  question,
  ...props
}: ActionButtonProps<I, O> & { question: Question }) {
  const [opened, { open, close }] = useDisclosure();
  const { run, busy } = useAction(call, done);
  return (
    <>
      <CallButton variant="default" {...props} call={call} loading={busy} onClick={open} />
      <ConfirmModal {...question} opened={opened} close={close} onConfirm={() => void run(request)} />
    </>
  );
}

/**
 * Returns a function that calls a method, shows the outcome, and reloads the data on screen, and whether it
 * runs.
 */
export function useAction<I extends DescMessage, O extends DescMessage>(
  call: DescMethodUnary<I, O>,
  done: ActionButtonProps<I, O>['done'],
) {
  const { mutateAsync, isPending } = useMutation(call);
  const attempt = useAttempt();
  return {
    run: (request: MessageInitShape<I>) => attempt(mutateAsync(request), done),
    busy: isPending,
  };
}
