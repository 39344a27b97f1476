import type { Command } from 'commander';
import {
  type KindPrice,
  KindPriceSchema,
  PriceService,
} from '../../../gen/gleaner/price/v1/price_pb.ts';
import { findJobType, unitFields } from '../../contract/job-types.ts';
import { addCommand } from './command.ts';
import { requireMarket } from './market-names.ts';
import { count, type PrintedColumn } from './print.ts';
import { namesOf } from './submit/job-types.ts';

const columns = (workingHours: string): PrintedColumn<KindPrice>[] => [
  { name: 'MARKET', text: ({ market }) => market },
  { name: 'KIND', text: ({ kind }) => kind },
  { name: 'CREDITS', text: ({ unitPrice }) => count(unitPrice), isNumber: true },
  { name: 'CHARGED AT', text: ({ chargedAt }) => chargedAt },
  { name: 'APPROVAL', text: ({ needsApproval }) => (needsApproval ? 'yes' : 'no') },
  { name: 'HOURS', text: ({ inWorkingHours }) => (inWorkingHours ? workingHours : 'any') },
  { name: 'MAX UNITS', text: ({ maxUnits }) => count(maxUnits), isNumber: true },
  { name: 'FIELDS', text: fieldWords },
  { name: 'SET', text: (kind) => namesOf(findJobType(kind)?.options ?? []) },
];

export function addKindCommands(program: Command): void {
  addCommand(
    program.command('kind').description('See the kinds of jobs, their prices, and their limits'),
    {
      usage: 'list [market]',
      about: 'List the kinds of jobs with their prices, limits, and fields',
      async run(session, _options, name: string | undefined) {
        const market = name === undefined ? undefined : requireMarket(name);
        const { prices, workingHours } = await session.client.call(
          PriceService.method.getPriceList,
          {},
        );
        const matchingPrices = prices.filter(
          (price) => market === undefined || price.market === market,
        );
        await session.list(KindPriceSchema, matchingPrices, columns(workingHours), 'No kinds.');
      },
    },
  );
}

/** Names the fields of a unit. */
function fieldWords(kind: KindPrice): string {
  const jobType = findJobType(kind);
  const fields = jobType === undefined ? [] : unitFields(jobType);
  if (fields.length > 0) return namesOf(fields);
  if (jobType?.units?.fieldKind === 'list') return 'URLs, one per line';
  return 'a CSV file';
}
