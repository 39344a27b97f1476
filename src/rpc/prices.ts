import { PriceService } from '../../gen/gleaner/price/v1/price_pb.ts';
import { formatWorkingHours } from '../base/working-hours.ts';
import { endpointOf } from '../contract/endpoint.ts';
import { approvalWaitMs, type JobContext } from '../jobs/context.ts';
import { listKindPrices } from '../jobs/prices.ts';
import { type Handlers, handle } from './handlers.ts';

/** Returns the handlers of gleaner.price.v1.PriceService. */
export function priceHandlers(context: Pick<JobContext, 'offers' | 'settings'>): Handlers {
  const getPriceList = handle(PriceService.method.getPriceList, async () => {
    const { workingHours } = context.settings;
    return {
      prices: listKindPrices(context).map(({ method, regions, maxBodyBytes, ...price }) => ({
        ...price,
        submitPath: endpointOf(method)?.path ?? '',
        regions: [...regions],
        maxBodyBytes: BigInt(maxBodyBytes),
      })),
      workingHours: workingHours === null ? '' : formatWorkingHours(workingHours),
      approvalHours: approvalWaitMs / 3_600_000,
    };
  });
  return { unary: new Map([getPriceList]), stream: new Map() };
}
