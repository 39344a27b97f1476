import { useInfiniteQuery } from '@connectrpc/connect-query';
import { Anchor, Badge, TextInput } from '@mantine/core';
import { useDebouncedValue, useDisclosure } from '@mantine/hooks';
import { IconPlus, IconSearch } from '@tabler/icons-react';
import { Link, useSearchParams } from 'react-router';
import type { Account } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { pollMs } from '../app/queries.ts';
import { Page } from '../layout/Page.tsx';
import { ListTable } from '../list/ListTable.tsx';
import type { Column } from '../list/list-content.ts';
import { formatCount } from '../number/format.ts';
import { CallButton } from '../permission/CallButton.tsx';
import { Moment } from '../time/Moment.tsx';
import { NewUserModal } from './NewUserModal.tsx';

const columns: Column<Account>[] = [
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
  const [term] = useDebouncedValue(search, 300);
  const [opened, { open, close }] = useDisclosure();
  const query = useInfiniteQuery(
    OperatorService.method.listUsers,
    { search: term, pageSize: 50, pageToken: '' },
    {
      pageParamKey: 'pageToken',
      getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
      refetchInterval: pollMs.list,
    },
  );
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
      <TextInput
        label="Search"
        placeholder="Name, email or ID"
        maw={360}
        leftSection={<IconSearch size={16} aria-hidden />}
        value={search}
        onChange={({ currentTarget: { value } }) =>
          setParameters(value === '' ? {} : { search: value }, { replace: true })
        }
      />
      <ListTable
        label="Users"
        rows={query.data?.pages.flatMap(({ users }) => users) ?? []}
        keyOf={({ id }) => id}
        query={query}
        columns={columns}
        empty={
          term === ''
            ? { title: 'No users yet', description: 'Create a user, then add credits and an API key.' }
            : { title: 'No matching users', description: `No name, email or ID contains “${term}”.` }
        }
      />
      <NewUserModal opened={opened} close={close} />
    </Page>
  );
}
