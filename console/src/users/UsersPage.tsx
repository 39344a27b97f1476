import { Anchor, Badge } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { Link, useSearchParams } from 'react-router';
import type { Account } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { formatCount } from '../../../src/present/text.ts';
import { Page } from '../ui/layout/Page.tsx';
import { ListTable } from '../ui/list/ListTable.tsx';
import type { ListColumn } from '../ui/list/list-content.ts';
import { SearchInput } from '../ui/list/SearchInput.tsx';
import { useList } from '../ui/list/useList.ts';
import { CallButton } from '../ui/permission/CallButton.tsx';
import { Moment } from '../ui/time/Moment.tsx';
import { NewUserModal } from './NewUserModal.tsx';

const columns: ListColumn<Account>[] = [
  {
    title: 'Name',
    cell: ({ id, name }) => (
      <Anchor component={Link} to={`/users/${id}`} fw={500} size="sm">
        {name}
      </Anchor>
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
    cell: ({ suspended }) =>
      suspended ? (
        <Badge variant="light" color="red" tt="none">
          Suspended
        </Badge>
      ) : null,
  },
  {
    title: 'Created',
    cell: ({ createdAt }) => <Moment at={createdAt} relative />,
    sortBy: ({ createdAt }) => createdAt?.seconds,
  },
];

/** Users with search. */
export function UsersPage() {
  const [parameters, setParameters] = useSearchParams();
  const search = parameters.get('search') ?? '';
  const [opened, { open, close }] = useDisclosure();
  const { query, rows } = useList(OperatorService.method.listUsers, { search }, (page) => page.users);
  const create = (
    <CallButton
      call={OperatorService.method.createUser}
      leftSection={<IconPlus size={16} aria-hidden />}
      onClick={open}
    >
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
        change={(text) => setParameters(text === '' ? {} : { search: text }, { replace: true })}
      />
      <ListTable
        label="Users"
        rows={rows}
        keyOf={({ id }) => id}
        query={query}
        columns={columns}
        empty={
          search === ''
            ? { title: 'No users yet', description: 'Create a user, then add credits and an API key.' }
            : { title: 'No matching users', description: `No name, email or ID contains “${search}”.` }
        }
      />
      <NewUserModal opened={opened} close={close} />
    </Page>
  );
}
