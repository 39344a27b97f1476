import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import { useInfiniteQuery } from '@connectrpc/connect-query';
import { Button, Menu } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useState } from 'react';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { pollMs } from '../app/queries.ts';
import { Page } from '../layout/Page.tsx';
import { saveStream } from '../session/download.ts';
import { transport } from '../session/transport.ts';
import { useDownload } from '../session/useDownload.ts';
import { AuditFilters, type AuditSearch, emptySearch } from './AuditFilters.tsx';
import { AuditTable } from './AuditTable.tsx';

/** Returns the filter of a search. The last day is part of the period. */
function filterOf({ actorId, target, action, outcome, since, until }: AuditSearch) {
  const dayAfter = (day: string) => new Date(new Date(`${day}T00:00:00`).getTime() + 86_400_000);
  return {
    actorId,
    target,
    action,
    outcome,
    ...(since === '' ? {} : { since: timestampFromDate(new Date(`${since}T00:00:00`)) }),
    ...(until === '' ? {} : { until: timestampFromDate(dayAfter(until)) }),
  };
}

/** Actions of operators and users, with filters and export. */
export function AuditPage() {
  const [search, setSearch] = useState(emptySearch);
  const filter = filterOf(search);
  const query = useInfiniteQuery(
    OperatorService.method.listAuditEntries,
    { ...filter, pageSize: 50, pageToken: '' },
    {
      pageParamKey: 'pageToken',
      getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
      refetchInterval: pollMs.list,
    },
  );
  const { download, busy } = useDownload();
  const save = (format: string) =>
    download(() =>
      saveStream(
        createClient(OperatorService, transport).exportAuditLog({ ...filter, format }),
        `audit-log.${format}`,
      ),
    );
  return (
    <Page
      title="Audit log"
      description="Actions of operators and users, including refused ones. Entries cannot be changed."
      actions={
        <Menu position="bottom-end">
          <Menu.Target>
            <Button variant="default" loading={busy} leftSection={<IconDownload size={16} aria-hidden />}>
              Export
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={() => void save('csv')}>CSV</Menu.Item>
            <Menu.Item onClick={() => void save('jsonl')}>JSON Lines</Menu.Item>
          </Menu.Dropdown>
        </Menu>
      }
    >
      <AuditFilters search={search} change={setSearch} />
      <AuditTable entries={query.data?.pages.flatMap(({ entries }) => entries) ?? []} query={query} />
    </Page>
  );
}
