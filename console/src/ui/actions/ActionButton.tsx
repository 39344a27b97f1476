import type {
  DescMessage,
  DescMethodUnary,
  MessageInitShape,
  MessageShape,
} from '@bufbuild/protobuf';
import { useMutation } from '@connectrpc/connect-query';
import { useDisclosure } from '@mantine/hooks';
import { showError } from '../errors/describe.ts';
import { showSuccess } from '../errors/toast.ts';
import { useRefresh } from '../list/useList.ts';
import { CallButton, type CallButtonProps } from '../permission/CallButton.tsx';
import { Confirmation } from './Confirmation.tsx';
import type { Question } from './ConfirmModal.tsx';

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
    <CallButton
      variant="default"
      {...props}
      call={call}
      loading={busy}
      onClick={() => void run(request)}
    />
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
      <Confirmation
        {...question}
        opened={opened}
        close={close}
        onConfirm={() => void run(request)}
      />
    </>
  );
}

/**
 * Returns a function that calls a method, shows the outcome, and reloads the data on screen, and
 * whether it runs. `fail` shows the error of a call.
 */
export function useAction<I extends DescMessage, O extends DescMessage>(
  call: DescMethodUnary<I, O>,
  done: ActionButtonProps<I, O>['done'],
  fail: (error: unknown) => void = showError,
) {
  const { mutateAsync, isPending } = useMutation(call);
  const refresh = useRefresh();
  const run = async (request: MessageInitShape<I>) => {
    try {
      const response = await mutateAsync(request);
      const text = typeof done === 'string' ? done : done(response);
      if (text !== null) showSuccess(text);
      await refresh();
    } catch (error) {
      fail(error);
    }
  };
  return { run, busy: isPending };
}
