import { Group } from '@mantine/core';
import { type Destination, DestinationService } from '../../../gen/gleaner/destination/v1/destination_pb.ts';
import { ActionButton, ConfirmButton } from '../ui/actions/ActionButton.tsx';
import { showToast } from '../ui/errors/toast.ts';
import { CallButton } from '../ui/permission/CallButton.tsx';

const { method } = DestinationService;

interface DestinationActionsProps {
  destination: Destination;
  /** Opens the form of the destination. */
  edit: () => void;
}

export function DestinationActions({ destination: { destinationId, name }, edit }: DestinationActionsProps) {
  return (
    <Group gap={6} wrap="nowrap">
      <ActionButton
        inRow
        call={method.testDestination}
        request={{ destinationId }}
        done={({ ok, target, error }) => {
          if (ok) return `Test object written to ${target} and deleted.`;
          const message = `${error} (${target})`;
          showToast({ color: 'red', title: 'Test failed', message, autoClose: false });
          return null;
        }}
        aria-label={`Test ${name}`}
      >
        Test
      </ActionButton>
      <CallButton inRow call={method.updateDestination} aria-label={`Edit ${name}`} onClick={edit}>
        Edit
      </CallButton>
      <ConfirmButton
        inRow
        call={method.deleteDestination}
        request={{ destinationId }}
        question={{
          title: `Delete ${name}?`,
          text: 'Its secrets are deleted, and deliveries that are not complete fail. Files that were delivered remain.',
          confirm: 'Delete destination',
        }}
        done="Destination deleted."
        aria-label={`Delete ${name}`}
      >
        Delete
      </ConfirmButton>
    </Group>
  );
}
