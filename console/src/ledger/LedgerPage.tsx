import { useInfiniteQuery } from '@connectrpc/connect-query';
import { Button, Menu } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { AccountService } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { every } from '../app/queries.ts';
import { tellFault } from '../fault/tell.ts';
import { Page } from '../layout/Page.tsx';
import { saveFromRest } from '../session/save.ts';
import { LedgerTable } from './LedgerTable.tsx';

const path = '/v1/account/ledger/export';

/** The caller's ledger, to read and to take along. */
export function LedgerPage() {
  const query = useInfiniteQuery(
    AccountService.method.listLedgerEntries,
    { pageSize: 100, pageToken: '' },
    {
      pageParamKey: 'pageToken',
      getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
      refetchInterval: every.watching,
    },
  );
  const save = (format: string) =>
    void saveFromRest(`${path}?format=${format}`, `ledger.${format}`).catch(tellFault);
  return (
    <Page
      title="Ledger"
      about="Every credit that was added, taken or given back. The balance is their sum."
      actions={
        <Menu position="bottom-end">
          <Menu.Target>
            <Button variant="default" leftSection={<IconDownload size={16} aria-hidden />}>
              Export
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={() => save('csv')}>CSV</Menu.Item>
            <Menu.Item onClick={() => save('jsonl')}>JSON Lines</Menu.Item>
          </Menu.Dropdown>
        </Menu>
      }
    >
      <LedgerTable entries={query.data?.pages.flatMap(({ entries }) => entries) ?? []} query={query} />
    </Page>
  );
}
