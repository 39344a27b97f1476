import { OperatorService } from '../../gen/gleaner/operator/v1/operator_pb.ts';
import { acceptDrift, listFieldDrift } from '../drift/alarms.ts';
import type { StoreUse } from '../jobs/context.ts';
import { driftShape } from './drift-shape.ts';
import { type Handler, handle } from './handlers.ts';

/** Dependencies of this module. */
export type OperatorDriftContext = StoreUse<'getDrift' | 'listDrift' | 'putDrift'>;

/** Returns the operators' handlers for drift alarms. */
export function operatorDriftHandlers({ store }: OperatorDriftContext): [string, Handler][] {
  const { method } = OperatorService;
  return [
    handle(method.listDriftAlarms, async ({ market, all }) => {
      const drift = await listFieldDrift(store, all);
      return { alarms: drift.filter((each) => market === '' || each.market === market).map(driftShape) };
    }),
    handle(method.acceptDrift, async ({ market, page, field }) => ({
      fields: await acceptDrift(store, market, page, field),
    })),
  ];
}
