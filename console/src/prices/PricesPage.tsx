import { useQuery } from '@connectrpc/connect-query';
import { type KindPrice, PriceService } from '../../../gen/gleaner/price/v1/price_pb.ts';
import { kindText, marketTitle } from '../../../src/present/names.ts';
import { formatBytes, formatCount } from '../../../src/present/text.ts';
import { describeHours } from '../../../src/present/time.ts';
import { Page } from '../ui/layout/Page.tsx';
import { ListTable } from '../ui/list/ListTable.tsx';
import type { ListColumn } from '../ui/list/list-content.ts';
import { TextLink } from '../ui/TextLink.tsx';

const columns = (workingHours: string): ListColumn<KindPrice>[] => [
  {
    title: 'Kind',
    cell: ({ market, kind }) => (
      <TextLink to={`/submit/${market}/${kind}`}>{kindText(kind)}</TextLink>
    ),
  },
  { title: 'Marketplace', cell: ({ market }) => marketTitle(market) },
  { title: 'Credits per unit', align: 'right', cell: ({ unitPrice }) => formatCount(unitPrice) },
  {
    title: 'Reused',
    align: 'right',
    cell: ({ reusedUnitPrice }) =>
      reusedUnitPrice === undefined ? '–' : formatCount(reusedUnitPrice),
  },
  {
    title: 'Charged on',
    cell: ({ chargedAt }) => (chargedAt === 'approval' ? 'Approval' : 'Submit'),
  },
  { title: 'Approval', cell: ({ needsApproval }) => (needsApproval ? 'Required' : '–') },
  ...(workingHours === ''
    ? []
    : [
        {
          title: 'Hours',
          cell: ({ inWorkingHours }: KindPrice) =>
            inWorkingHours ? describeHours(workingHours) : 'Any',
        },
      ]),
  { title: 'Max. units', align: 'right', cell: ({ maxUnits }) => formatCount(maxUnits) },
  { title: 'Max. request', align: 'right', cell: ({ maxBodyBytes }) => formatBytes(maxBodyBytes) },
];

/** Prices and limits of all kinds of jobs. */
export function PricesPage() {
  const query = useQuery(PriceService.method.getPriceList, {});
  return (
    <Page
      title="Prices"
      description="Prices and limits in effect now. Units that fail are refunded."
    >
      <ListTable
        label="Prices"
        rows={query.data?.prices ?? []}
        keyOf={({ market, kind }) => `${market} ${kind}`}
        query={query}
        columns={columns(query.data?.workingHours ?? '')}
        minWidth={820}
        empty={{ title: 'No kinds of jobs' }}
      />
    </Page>
  );
}
