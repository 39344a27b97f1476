import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { FieldDriftSchema } from '../../gen/gleaner/operator/v1/operator_pb.ts';
import type { FieldDrift } from '../drift/alarms.ts';

/** Returns the message FieldDrift. */
export function driftShape(drift: FieldDrift): MessageInitShape<typeof FieldDriftSchema> {
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
