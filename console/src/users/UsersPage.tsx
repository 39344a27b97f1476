import { useInfiniteQuery } from '@connectrpc/connect-query';
import { Anchor, Badge, Button, TextInput } from '@mantine/core';
import { useDebouncedValue, useDisclosure } from '@mantine/hooks';
import { IconPlus, IconSearch } from '@tabler/icons-react';
import { Link, useSearchParams } from 'react-router';
import type { Account } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { every } from '../app/queries.ts';
import { Page } from '../layout/Page.tsx';
import { type Column, ListTable } from '../list/ListTable.tsx';
import { countText } from '../number/text.ts';
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
  },
  { title: 'Address', cell: ({ email }) => email },
  { title: 'Balance', align: 'right', cell: ({ balance }) => countText(balance) },
  {
    title: 'State',
    cell: ({ suspended }) =>
      suspended ? (
        <Badge variant="light" color="red" tt="none">
          suspended
        </Badge>
      ) : null,
  },
  { title: 'Since', cell: ({ createdAt }) => <Moment at={createdAt} relative /> },
];

/** Users, with a search, and a way to make one. */
export function UsersPage() {
  const [parameters, setParameters] = useSearchParams();
  const search = parameters.get('search') ?? '';
  const [wanted] = useDebouncedValue(search, 300);
  const [opened, { open, close }] = useDisclosure();
  const query = useInfiniteQuery(
    OperatorService.method.listUsers,
    { search: wanted, pageSize: 50, pageToken: '' },
    {
      pageParamKey: 'pageToken',
      getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
      refetchInterval: every.watching,
    },
  );
  const create = (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={open}>
      New user
    </Button>
  );
  return (
    <Page title="Users" actions={create}>
      <TextInput
        label="Search"
        placeholder="Name, address or id"
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
          wanted === ''
            ? { title: 'No users yet', about: 'A user has credits and keys, and submits jobs.' }
            : { title: 'Nobody is like that', about: `No name, address or id holds “${wanted}”.` }
        }
      />
      <NewUserModal opened={opened} close={close} />
    </Page>
  );
}
