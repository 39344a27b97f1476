import { useMutation } from '@connectrpc/connect-query';
import { Group } from '@mantine/core';
import { modals } from '@mantine/modals';
import { notifications } from '@mantine/notifications';
import { type Destination, DestinationService } from '../../../gen/gleaner/destination/v1/destination_pb.ts';
import { useAttempt } from '../errors/useAttempt.ts';
import { CallButton } from '../permission/CallButton.tsx';

const { method } = DestinationService;

interface DestinationActionsProps {
  destination: Destination;
  /** Opens the form of the destination. */
  edit: () => void;
}

/** Calls that test and delete a destination. Each shows its outcome. */
function useDestinationCalls({ destinationId }: Destination) {
  const attempt = useAttempt();
  const testing = useMutation(method.testDestination);
  const deletion = useMutation(method.deleteDestination);
  const test = () =>
    attempt(testing.mutateAsync({ destinationId }), ({ ok, target, error }) => {
      if (ok) return `Test object written to ${target} and deleted.`;
      const message = `${error} (${target})`;
      notifications.show({ color: 'red', title: 'Test failed', message, autoClose: false });
      return null;
    });
  const remove = () => attempt(deletion.mutateAsync({ destinationId }), 'Destination deleted.');
  return { test, remove, isTesting: testing.isPending, isDeleting: deletion.isPending };
}

/** Buttons of a destination. */
export function DestinationActions({ destination, edit }: DestinationActionsProps) {
  const { test, remove, isTesting, isDeleting } = useDestinationCalls(destination);
  const { name } = destination;
  const confirmDelete = () =>
    modals.openConfirmModal({
      title: `Delete ${name}?`,
      children:
        'Its secrets are deleted, and deliveries that are not complete fail. Files that were delivered remain.',
      labels: { confirm: 'Delete destination', cancel: 'Back' },
      confirmProps: { color: 'red' },
      onConfirm: () => void remove(),
    });
  const look = { size: 'compact-sm', variant: 'default' } as const;
  return (
    <Group gap={6} wrap="nowrap">
      <CallButton
        call={method.testDestination}
        {...look}
        loading={isTesting}
        aria-label={`Test ${name}`}
        onClick={test}
      >
        Test
      </CallButton>
      <CallButton call={method.updateDestination} {...look} aria-label={`Edit ${name}`} onClick={edit}>
        Edit
      </CallButton>
      <CallButton
        call={method.deleteDestination}
        {...look}
        loading={isDeleting}
        aria-label={`Delete ${name}`}
        onClick={confirmDelete}
      >
        Delete
      </CallButton>
    </Group>
  );
}
