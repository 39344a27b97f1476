import { timestampMs } from '@bufbuild/protobuf/wkt';
import { useMutation } from '@connectrpc/connect-query';
import { Button, Center, Skeleton, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { type Operator, OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { useAction } from '../ui/actions/ActionButton.tsx';
import { FormModal } from '../ui/actions/FormModal.tsx';
import { fieldErrors } from '../ui/errors/describe.ts';
import { ErrorAlert } from '../ui/errors/ErrorAlert.tsx';
import { useKeys } from '../ui/keys/useKeys.tsx';
import { Page } from '../ui/layout/Page.tsx';
import { Section } from '../ui/layout/Section.tsx';
import type { ListQuery } from '../ui/list/ListTable.tsx';
import { useList } from '../ui/list/useList.ts';
import { CallButton } from '../ui/permission/CallButton.tsx';
import { pollMs } from '../ui/queries.ts';
import { Moment } from '../ui/time/Moment.tsx';
import { validateName } from '../ui/validate-name.ts';

/** Operators with their API keys. */
export function OperatorsPage() {
  const [opened, { open, close }] = useDisclosure();
  const { query, rows } = useList(
    OperatorService.method.listOperators,
    { pageSize: 20 },
    (page) => page.operators,
    { refetchInterval: pollMs.idle },
  );
  return (
    <Page
      title="Operators"
      description="Operators approve jobs and manage users. Create one operator per person."
      actions={
        <CallButton call={OperatorService.method.createOperator} icon={IconPlus} onClick={open}>
          Create operator
        </CallButton>
      }
    >
      {query.isPending && <Skeleton height={160} role="status" aria-label="Loading operators" />}
      {query.error && <ErrorAlert error={query.error} retry={query.refetch} />}
      {rows.map((operator) => (
        <OperatorKeys key={operator.id} operator={operator} query={query} />
      ))}
      {query.hasNextPage && (
        <Center>
          <Button
            variant="default"
            loading={query.isFetchingNextPage}
            onClick={() => query.fetchNextPage()}
          >
            Load more
          </Button>
        </Center>
      )}
      <NewOperatorModal opened={opened} close={close} />
    </Page>
  );
}

export function NewOperatorModal({ opened, close }: { opened: boolean; close: () => void }) {
  const form = useForm({
    initialValues: { name: '' },
    validate: {
      name: validateName,
    },
  });
  const { run, busy } = useAction(
    OperatorService.method.createOperator,
    () => {
      form.reset();
      close();
      return 'Operator created. Create an API key for them next.';
    },
    (error) => form.setErrors(fieldErrors(error, ['name'], 'name')),
  );
  return (
    <FormModal
      opened={opened}
      close={close}
      title="Create operator"
      onSubmit={form.onSubmit(({ name }) => void run({ name: name.trim() }))}
      submit="Create operator"
      call={OperatorService.method.createOperator}
      busy={busy}
    >
      <TextInput
        label="Name"
        description="Name of the person or the program"
        required
        data-autofocus
        {...form.getInputProps('name')}
      />
    </FormModal>
  );
}

export function OperatorKeys({
  operator: { id, name, keys },
  query,
}: {
  operator: Operator;
  query: ListQuery;
}) {
  const creation = useMutation(OperatorService.method.createApiKey);
  const [list, createButton] = useKeys({
    query: {
      isPending: false,
      error: null,
      refetch: query.refetch,
      data: { keys },
    },
    methods: OperatorService.method,
    owner: 'operator',
    create: (request) => creation.mutateAsync({ ...request, userId: id }),
    button: { size: 'xs', variant: 'default', 'aria-label': `Create key for ${name}` },
  });
  const [lastUsed] = keys
    .flatMap(({ lastUsedAt }) => lastUsedAt ?? [])
    .sort((one, other) => timestampMs(other) - timestampMs(one));
  return (
    <Section
      title={name}
      description={
        <>
          Last active: <Moment at={lastUsed} relative none="never" />
        </>
      }
      actions={createButton}
    >
      {list}
    </Section>
  );
}
