import { useQuery } from '@connectrpc/connect-query';
import { Code, Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import {
  type Destination,
  DestinationService,
} from '../../../gen/gleaner/destination/v1/destination_pb.ts';
import { exportFormats } from '../../../src/present/export-formats.ts';
import { ActionButton, ConfirmButton } from '../ui/actions/ActionButton.tsx';
import { showToast } from '../ui/errors/toast.ts';
import { Page } from '../ui/layout/Page.tsx';
import { ListTable } from '../ui/list/ListTable.tsx';
import type { ListColumn } from '../ui/list/list-content.ts';
import { RowActions } from '../ui/list/RowActions.tsx';
import { CallButton } from '../ui/permission/CallButton.tsx';
import { pollMs } from '../ui/queries.ts';
import { TextLink } from '../ui/TextLink.tsx';
import { Moment } from '../ui/time/Moment.tsx';
import { DestinationModal } from './DestinationModal.tsx';
import { addressOf, typeLabels, valuesOf } from './settings.ts';

const { method } = DestinationService;

const formatLabel = (name: string) =>
  exportFormats.find(({ format }) => format === name)?.label ?? name;

const columns: ListColumn<Destination>[] = [
  { title: 'Name', cell: ({ name }) => name },
  { title: 'Type', cell: (destination) => typeLabels[valuesOf(destination).type] },
  {
    title: 'Address',
    cell: (destination) => (
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {addressOf(destination)}
      </Text>
    ),
  },
  { title: 'Format', cell: ({ format }) => formatLabel(format) },
  {
    title: 'Path',
    cell: ({ path }) => <Code style={{ overflowWrap: 'anywhere' }}>{path}</Code>,
  },
  { title: 'Created', cell: ({ createdAt }) => <Moment at={createdAt} relative /> },
];

/** The caller's destinations, to which the results of jobs are delivered. */
export function DestinationsPage() {
  const query = useQuery(method.listDestinations, {}, { refetchInterval: pollMs.idle });
  /** Destination in the dialog; null for a new one, undefined while the dialog is closed. */
  const [edited, edit] = useState<Destination | null>();
  const createButton = (
    <CallButton call={method.createDestination} icon={IconPlus} onClick={() => edit(null)}>
      Create destination
    </CallButton>
  );
  const actions: ListColumn<Destination> = {
    title: 'Actions',
    align: 'right',
    cell: (destination) => (
      <DestinationActions destination={destination} edit={() => edit(destination)} />
    ),
  };
  return (
    <Page
      title="Destinations"
      description={
        <>
          Your own storage, to which the results of a job can be delivered.{' '}
          <TextLink to="/webhook" underline="always">
            Delivery log
          </TextLink>
        </>
      }
      actions={createButton}
    >
      <ListTable
        label="Destinations"
        rows={query.data?.destinations ?? []}
        keyOf={({ destinationId }) => destinationId}
        query={query}
        columns={[...columns, actions]}
        minWidth={900}
        empty={{
          title: 'No destinations yet',
          description: 'Create one, and select it under Options when you submit a job.',
        }}
      />
      {edited !== undefined && (
        <DestinationModal destination={edited} close={() => edit(undefined)} />
      )}
    </Page>
  );
}

interface DestinationActionsProps {
  destination: Destination;
  /** Opens the form of the destination. */
  edit: () => void;
}

function DestinationActions({
  destination: { destinationId, name },
  edit,
}: DestinationActionsProps) {
  return (
    <RowActions>
      <ActionButton
        inRow
        call={method.testDestination}
        request={{ destinationId }}
        done={({ ok, target, error }) => {
          if (ok) return `Test object written to ${target} and deleted.`;
          const message = `${error} (${target})`;
          showToast({
            color: 'red',
            title: 'Test failed',
            message,
            autoClose: false,
          });
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
          text:
            'Its secrets are deleted, and deliveries that are not complete fail. ' +
            'Files that were delivered remain.',
          confirm: 'Delete destination',
        }}
        done="Destination deleted."
        aria-label={`Delete ${name}`}
      >
        Delete
      </ConfirmButton>
    </RowActions>
  );
}
