import { useMutation } from '@connectrpc/connect-query';
import { NativeSelect, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import {
  type Destination,
  DestinationService,
} from '../../../gen/gleaner/destination/v1/destination_pb.ts';
import { exportFormats } from '../../../src/present/export-formats.ts';
import { FormModal } from '../ui/actions/FormModal.tsx';
import { ErrorAlert } from '../ui/errors/ErrorAlert.tsx';
import { showSuccess } from '../ui/errors/toast.ts';
import { useRefresh } from '../ui/list/useList.ts';
import { type AddressInputsProps, BucketInputs, HttpsInputs } from './AddressInputs.tsx';
import { hasInput, inputProblems, settingsOf, typeLabels, valuesOf } from './settings.ts';

const { method } = DestinationService;

interface DestinationModalProps {
  /** Destination to change; null to create one. */
  destination: Destination | null;
  close: () => void;
}

/** Form of a destination. `error`: fault of the last attempt; null if there is none. */
function useDestinationForm({ destination, close }: DestinationModalProps) {
  const creating = useMutation(method.createDestination);
  const updating = useMutation(method.updateDestination);
  const [error, setError] = useState<unknown>(null);
  const refresh = useRefresh();
  const form = useForm({ initialValues: valuesOf(destination) });
  const submit = form.onSubmit(async (values) => {
    const { type, clearSecrets } = values;
    setError(null);
    try {
      if (destination === null) await creating.mutateAsync({ ...settingsOf(values), type });
      else {
        const { destinationId } = destination;
        await updating.mutateAsync({ ...settingsOf(values), destinationId, clearSecrets });
      }
      showSuccess(destination === null ? 'Destination created.' : 'Destination changed.');
      await refresh();
      close();
    } catch (thrown) {
      setError(thrown);
      form.setErrors(inputProblems(type, thrown));
    }
  });
  return {
    form,
    submit,
    error,
    isPending: creating.isPending || updating.isPending,
  };
}

/** Dialog that creates or changes a destination. */
export function DestinationModal({ destination, close }: DestinationModalProps) {
  const { form, submit, error, isPending } = useDestinationForm({ destination, close });
  const { type } = form.values;
  const isNew = destination === null;
  return (
    <FormModal
      close={close}
      title={isNew ? 'Create destination' : `Edit ${destination.name}`}
      onSubmit={submit}
      submit={isNew ? 'Test and create' : 'Test and save'}
      call={isNew ? method.createDestination : method.updateDestination}
      busy={isPending}
    >
      {error ? (
        <ErrorAlert
          error={error}
          title={isNew ? 'Destination not created' : 'Destination not changed'}
          isShownElsewhere={(path) => hasInput(type, path)}
        />
      ) : null}
      <Settings form={form} destination={destination} />
    </FormModal>
  );
}

function Settings({ form, destination }: AddressInputsProps) {
  const Inputs = form.values.type === 's3' ? BucketInputs : HttpsInputs;
  return (
    <>
      <TextInput
        label="Name"
        description="Used to select the destination when you submit a job: lower-case letters, digits, - and _."
        withAsterisk
        data-autofocus
        {...form.getInputProps('name')}
      />
      <NativeSelect
        label="Type"
        data={Object.entries(typeLabels).map(([value, label]) => ({ value, label }))}
        disabled={destination !== null}
        {...form.getInputProps('type')}
      />
      <Inputs form={form} destination={destination} />
      <NativeSelect
        label="Format"
        data={exportFormats.map(({ format, label }) => ({ value: format, label }))}
        {...form.getInputProps('format')}
      />
      <TextInput
        label="Path"
        description="Template of the names of files."
        placeholder="{market}/{kind}/{date}/{job_id}.{ext}"
        {...form.getInputProps('path')}
      />
    </>
  );
}
