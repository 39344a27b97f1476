import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { expect, test } from 'vitest';
import { OriginSchema } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { byActivity } from './status.ts';

test('byActivity() puts paused origins first, then those with the most requests', () => {
  const origins = [
    { region: 'idle' },
    { region: 'busy', minutes: [{ requests: 3 }, { requests: 4 }] },
    { region: 'paused', pausedUntil: timestampFromMs(1) },
    { region: 'slow', minutes: [{ requests: 5 }] },
  ].map((origin) => create(OriginSchema, origin));
  const regions = origins.toSorted(byActivity).map(({ region }) => region);
  expect(regions).toEqual(['paused', 'busy', 'slow', 'idle']);
});
