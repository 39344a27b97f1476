import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { FieldDriftSchema } from '../../gen/gleaner/operator/v1/operator_pb.ts';
import type { FieldDrift } from '../drift/alarms.ts';

/** A field that goes missing, as operators see it. */
export function driftShape(drift: FieldDrift): MessageInitShape<typeof FieldDriftSchema> {
  const { market, page, field, absent, usual, pages, since, example } = drift;
  return {
    market,
    page,
    field,
    absentShare: absent,
    pages: Math.round(pages),
    exampleUnit: example === null ? '' : JSON.stringify(example.input),
    exampleRegion: example?.region ?? '',
    ...(usual === null ? {} : { usualShare: usual }),
    ...(since === null ? {} : { since: timestampFromMs(since) }),
  };
}
