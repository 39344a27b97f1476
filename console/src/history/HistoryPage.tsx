import { HistoryService, type TrackedItem } from '../../../gen/gleaner/history/v1/history_pb.ts';
import { hasChanged, priceText, stockText } from '../../../src/present/item.ts';
import { Id } from '../ui/Id.tsx';
import { ItemName, itemPath } from '../ui/ItemName.tsx';
import { Page } from '../ui/layout/Page.tsx';
import { ListTable } from '../ui/list/ListTable.tsx';
import type { ListColumn } from '../ui/list/list-content.ts';
import { SearchInput } from '../ui/list/SearchInput.tsx';
import { useAddressFilter, useList } from '../ui/list/useList.ts';
import { useSession } from '../ui/session/session.ts';
import { Moment } from '../ui/time/Moment.tsx';

const columns: ListColumn<TrackedItem>[] = [
  {
    title: 'Item',
    maxWidth: 460,
    cell: (item) => <ItemName item={item} title={item.values?.title} />,
  },
  { title: 'Price', align: 'right', cell: ({ values }) => priceText(values) },
  { title: 'Stock', align: 'right', cell: ({ values }) => stockText(values) },
  {
    title: 'Changed',
    cell: (item) => (hasChanged(item) ? <Moment at={item.changedAt} relative /> : '–'),
  },
  { title: 'First read', cell: ({ firstAt }) => <Moment at={firstAt} relative /> },
  { title: 'Last read', cell: ({ seenAt }) => <Moment at={seenAt} relative /> },
  { title: 'Job', cell: ({ jobId }) => <Id of="jobs" value={jobId} /> },
];

const emptyText = 'Submit a job with "Track changes" to follow its items.';
const testEmptyText =
  `${emptyText} On test data, the price of the Amazon ` +
  'product B0GLN01920 changes every ten seconds.';

/** Items of the caller's tracked jobs, the latest change first. */
export function HistoryPage() {
  const { isTest } = useSession();
  const [{ search }, change] = useAddressFilter({ search: '' });
  const { query, rows } = useList(
    HistoryService.method.listTrackedItems,
    { search },
    (page) => page.items,
  );
  return (
    <Page title="History" description="Items of tracked jobs with their latest values.">
      <SearchInput
        label="Search"
        placeholder="Title or item ID"
        maw={360}
        search={search}
        change={(text) => change({ search: text.trim() })}
      />
      <ListTable
        label="Tracked items"
        rows={rows}
        keyOf={itemPath}
        query={query}
        columns={columns}
        dense
        empty={
          search === ''
            ? {
                title: 'No tracked items',
                description: isTest ? testEmptyText : emptyText,
              }
            : { title: 'No matching items' }
        }
      />
    </Page>
  );
}
