import { Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { useNavigate } from 'react-router';
import type { Account } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { formatCount, shortId } from '../../../src/present/text.ts';
import { useAction } from '../ui/actions/ActionButton.tsx';
import { FormModal } from '../ui/actions/FormModal.tsx';
import { fieldErrors } from '../ui/errors/describe.ts';
import { StatusBadge } from '../ui/jobs/StatusBadge.tsx';
import { Page } from '../ui/layout/Page.tsx';
import { ListTable } from '../ui/list/ListTable.tsx';
import type { ListColumn } from '../ui/list/list-content.ts';
import { SearchInput } from '../ui/list/SearchInput.tsx';
import { useAddressFilter, useList } from '../ui/list/useList.ts';
import { CallButton } from '../ui/permission/CallButton.tsx';
import { TextLink } from '../ui/TextLink.tsx';
import { Moment } from '../ui/time/Moment.tsx';
import { validateName } from '../ui/validate-name.ts';

const columns: ListColumn<Account>[] = [
  {
    title: 'Name',
    cell: ({ id, name }) => (
      <>
        <TextLink to={`/users/${id}`} fw={500}>
          {name}
        </TextLink>{' '}
        <Text span size="xs" c="dimmed">
          {shortId(id)}
        </Text>
      </>
    ),
    sortBy: ({ name }) => name,
  },
  { title: 'Email', cell: ({ email }) => email, sortBy: ({ email }) => email || undefined },
  {
    title: 'Balance',
    align: 'right',
    cell: ({ balance }) => formatCount(balance),
    sortBy: ({ balance }) => balance,
  },
  {
    title: 'Status',
    cell: ({ suspended }) => (suspended ? <StatusBadge status="suspended" /> : null),
  },
  {
    title: 'Created',
    cell: ({ createdAt }) => <Moment at={createdAt} relative />,
    sortBy: ({ createdAt }) => createdAt?.seconds,
  },
];

export function UsersPage() {
  const [{ search }, change] = useAddressFilter({ search: '' });
  const [opened, { open, close }] = useDisclosure();
  const { query, rows } = useList(
    OperatorService.method.listUsers,
    { search },
    (page) => page.users,
  );
  const create = (
    <CallButton call={OperatorService.method.createUser} icon={IconPlus} onClick={open}>
      Create user
    </CallButton>
  );
  return (
    <Page title="Users" actions={create}>
      <SearchInput
        label="Search"
        placeholder="Name, email or ID"
        maw={360}
        search={search}
        change={(text) => change({ search: text })}
      />
      <ListTable
        label="Users"
        rows={rows}
        keyOf={({ id }) => id}
        query={query}
        columns={columns}
        empty={
          search === ''
            ? {
                title: 'No users yet',
                description: 'Create a user, then add credits and an API key.',
              }
            : {
                title: 'No matching users',
                description: `No name, email or ID contains “${search}”.`,
              }
        }
      />
      <NewUserModal opened={opened} close={close} />
    </Page>
  );
}

/** Dialog that creates a user and opens their page. */
export function NewUserModal({ opened, close }: { opened: boolean; close: () => void }) {
  const navigate = useNavigate();
  const form = useForm({
    initialValues: { name: '', email: '' },
    validate: {
      name: validateName,
      email: (value) => (value.trim().length <= 320 ? null : 'Enter at most 320 characters.'),
    },
  });
  const { run, busy } = useAction(
    OperatorService.method.createUser,
    ({ user }) => {
      form.reset();
      close();
      void navigate(`/users/${user?.id}`);
      return null;
    },
    (error) => form.setErrors(fieldErrors(error, ['name', 'email'], 'name')),
  );
  return (
    <FormModal
      opened={opened}
      close={close}
      title="Create user"
      onSubmit={form.onSubmit(
        ({ name, email }) => void run({ name: name.trim(), email: email.trim() }),
      )}
      submit="Create user"
      call={OperatorService.method.createUser}
      busy={busy}
    >
      <TextInput label="Name" required data-autofocus {...form.getInputProps('name')} />
      <TextInput
        label="Email address"
        description="Optional"
        type="email"
        {...form.getInputProps('email')}
      />
    </FormModal>
  );
}
