import { useInfiniteQuery } from '@connectrpc/connect-query';
import { Button, Menu } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { AccountService } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { pollMs } from '../app/queries.ts';
import { Page } from '../layout/Page.tsx';
import { downloadRest } from '../session/download.ts';
import { useDownload } from '../session/useDownload.ts';
import { LedgerTable } from './LedgerTable.tsx';

const path = '/v1/account/ledger/export';

/** Ledger of the caller, with export. */
export function LedgerPage() {
  const query = useInfiniteQuery(
    AccountService.method.listLedgerEntries,
    { pageSize: 100, pageToken: '' },
    {
      pageParamKey: 'pageToken',
      getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
      refetchInterval: pollMs.list,
    },
  );
  const { download, busy } = useDownload();
  const save = (format: string) =>
    void download(() => downloadRest(`${path}?format=${format}`, `ledger.${format}`));
  return (
    <Page
      title="Ledger"
      description="Credits granted, charged and refunded. The balance is their sum."
      actions={
        <Menu position="bottom-end">
          <Menu.Target>
            <Button variant="default" loading={busy} leftSection={<IconDownload size={16} aria-hidden />}>
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
