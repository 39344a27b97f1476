import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import type { Account } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { formatCount } from '../../../src/present/text.ts';
import { StatusBadge } from '../ui/jobs/StatusBadge.tsx';
import { Page } from '../ui/layout/Page.tsx';
import { ListTable } from '../ui/list/ListTable.tsx';
import type { ListColumn } from '../ui/list/list-content.ts';
import { SearchInput } from '../ui/list/SearchInput.tsx';
import { useAddressFilter } from '../ui/list/useAddressFilter.ts';
import { useList } from '../ui/list/useList.ts';
import { CallButton } from '../ui/permission/CallButton.tsx';
import { TextLink } from '../ui/TextLink.tsx';
import { Moment } from '../ui/time/Moment.tsx';
import { NewUserModal } from './NewUserModal.tsx';

const columns: ListColumn<Account>[] = [
  {
    title: 'Name',
    cell: ({ id, name }) => (
      <TextLink to={`/users/${id}`} fw={500}>
        {name}
      </TextLink>
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

/** Users with search. */
export function UsersPage() {
  const [{ search }, change] = useAddressFilter({ search: '' });
  const [opened, { open, close }] = useDisclosure();
  const { query, rows } = useList(OperatorService.method.listUsers, { search }, (page) => page.users);
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
            ? { title: 'No users yet', description: 'Create a user, then add credits and an API key.' }
            : { title: 'No matching users', description: `No name, email or ID contains “${search}”.` }
        }
      />
      <NewUserModal opened={opened} close={close} />
    </Page>
  );
}
