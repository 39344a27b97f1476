import { useMutation } from '@connectrpc/connect-query';
import { Group } from '@mantine/core';
import { modals } from '@mantine/modals';
import { notifications } from '@mantine/notifications';
import { type Destination, DestinationService } from '../../../gen/gleaner/destination/v1/destination_pb.ts';
import { showError, showSuccess } from '../errors/toast.ts';
import { useRefresh } from '../list/useRefresh.ts';
import { CallButton } from '../permission/CallButton.tsx';

const { method } = DestinationService;

interface DestinationActionsProps {
  destination: Destination;
  /** Opens the form of the destination. */
  edit: () => void;
}

/** Calls that test and delete a destination. Each shows its outcome. */
function useDestinationCalls({ destinationId }: Destination) {
  const refresh = useRefresh();
  const testing = useMutation(method.testDestination);
  const deletion = useMutation(method.deleteDestination);
  const test = async () => {
    try {
      const { ok, target, error } = await testing.mutateAsync({ destinationId });
      if (ok) showSuccess(`Test object written to ${target} and deleted.`);
      else {
        const message = `${error} (${target})`;
        notifications.show({ color: 'red', title: 'Test failed', message, autoClose: false });
      }
    } catch (error) {
      showError(error);
    }
  };
  const remove = async () => {
    try {
      await deletion.mutateAsync({ destinationId });
      showSuccess('Destination deleted.');
      await refresh();
    } catch (error) {
      showError(error);
    }
  };
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
