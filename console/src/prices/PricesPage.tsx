import { useQuery } from '@connectrpc/connect-query';
import { Anchor } from '@mantine/core';
import { Link } from 'react-router';
import { type KindPrice, PriceService } from '../../../gen/gleaner/price/v1/price_pb.ts';
import { kindText, marketText } from '../../../src/present/names.ts';
import { formatBytes, formatCount } from '../../../src/present/text.ts';
import { Page } from '../ui/layout/Page.tsx';
import { ListTable } from '../ui/list/ListTable.tsx';
import type { ListColumn } from '../ui/list/list-content.ts';

const columns = (workingHours: string): ListColumn<KindPrice>[] => [
  {
    title: 'Kind',
    cell: ({ market, kind }) => (
      <Anchor component={Link} to={`/submit/${market}/${kind}`} size="sm">
        {kindText(kind)}
      </Anchor>
    ),
  },
  { title: 'Marketplace', cell: ({ market }) => marketText(market) },
  { title: 'Credits per unit', cell: ({ unitPrice }) => formatCount(unitPrice) },
  {
    title: 'Reused record',
    cell: ({ reusedUnitPrice }) => (reusedUnitPrice === undefined ? '–' : formatCount(reusedUnitPrice)),
  },
  { title: 'Charged at', cell: ({ chargedAt }) => (chargedAt === 'approval' ? 'Approval' : 'Submit') },
  { title: 'Approval', cell: ({ needsApproval }) => (needsApproval ? 'Required' : 'Not required') },
  { title: 'Hours', cell: ({ inWorkingHours }) => (inWorkingHours ? workingHours : 'Any time') },
  { title: 'Units per submit', cell: ({ maxUnits }) => `Up to ${formatCount(maxUnits)}` },
  { title: 'Request size', cell: ({ maxBodyBytes }) => `Up to ${formatBytes(maxBodyBytes)}` },
];

/** Prices and limits of all kinds of jobs. */
export function PricesPage() {
  const query = useQuery(PriceService.method.getPriceList, {});
  return (
    <Page title="Prices" description="Prices and limits in effect now. Units that fail are refunded.">
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
