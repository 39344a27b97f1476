import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { type FieldDriftSchema, OperatorService } from '../../gen/gleaner/operator/v1/operator_pb.ts';
import { acceptDrift, type FieldDrift, listFieldDrift } from '../drift/alarms.ts';
import type { StoreUse } from '../jobs/context.ts';
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

/** Returns the message FieldDrift. */
function driftShape(drift: FieldDrift): MessageInitShape<typeof FieldDriftSchema> {
  const { market, page, field, absent, baseline, pages, since, example } = drift;
  return {
    market,
    page,
    field,
    absentShare: absent,
    pages: Math.round(pages),
    exampleUnit: example === null ? '' : JSON.stringify(example.input),
    exampleRegion: example?.region ?? '',
    ...(baseline === null ? {} : { usualShare: baseline }), // cspell:disable-line
    ...(since === null ? {} : { since: timestampFromMs(since) }),
  };
}
