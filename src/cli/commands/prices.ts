import type { Command } from 'commander';
import {
  GetPriceListResponseSchema,
  type KindPrice,
  PriceService,
} from '../../../gen/gleaner/price/v1/price_pb.ts';
import { addCommand } from './command.ts';
import { type Column, count } from './print.ts';

/** Adds `prices`. */
export function addPriceCommand(program: Command): void {
  addCommand(program, {
    usage: 'prices',
    about: 'List the price and the limits of each kind of job',
    async run(session) {
      const { getPriceList } = PriceService.method;
      const list = await session.user().call(getPriceList, {}, { signal: session.signal });
      await session.show(GetPriceListResponseSchema, list, ({ table }) =>
        table(columns(list.workingHours), list.prices),
      );
    },
  });
}

const columns = (workingHours: string): Column<KindPrice>[] => [
  { name: 'MARKET', text: ({ market }) => market },
  { name: 'KIND', text: ({ kind }) => kind },
  { name: 'CREDITS', text: ({ unitPrice }) => count(unitPrice), isNumber: true },
  { name: 'CHARGED AT', text: ({ chargedAt }) => chargedAt },
  { name: 'APPROVAL', text: ({ needsApproval }) => (needsApproval ? 'yes' : 'no') },
  { name: 'HOURS', text: ({ inWorkingHours }) => (inWorkingHours ? workingHours : 'any') },
  { name: 'MAX UNITS', text: ({ maxUnits }) => count(maxUnits), isNumber: true },
];
