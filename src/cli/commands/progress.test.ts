import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { expect, test } from 'vitest';
import { JobSchema } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { jobWords } from './progress.ts';

const job = (parts: MessageInitShape<typeof JobSchema>) =>
  create(JobSchema, {
    status: 'processing',
    total: 4_000,
    startedAt: timestampFromMs(0),
    ...parts,
  });

test.each([
  [
    job({ success: 900, failed: 100 }),
    'processing, 900 of 4,000 collected, 100 failed, 3 min left',
  ],
  [
    job({ waitingFor: 'waiting for mkta/id' }),
    'processing, 0 of 4,000 collected, waiting for mkta/id',
  ],
  [
    job({ success: 3_999, waitingFor: 'mkta/id: blocked' }),
    'processing, 3,999 of 4,000 collected, mkta/id: blocked',
  ],
  [
    job({ status: 'terminated', success: 23, failed: 3_977, notRun: 3_976, ended: true }),
    'terminated, 23 of 4,000 collected, 1 failed, 3,976 not run',
  ],
  [
    job({ status: 'rejected', failed: 4_000, notRun: 4_000, ended: true, reason: 'Too dear.' }),
    'rejected, not run: Too dear.',
  ],
  [
    job({ status: 'completed', success: 4_000, ended: true, reused: 12 }),
    'completed, 4,000 of 4,000 collected, 12 reused',
  ],
  [
    job({
      status: 'completed',
      success: 4_000,
      ended: true,
      hold: { state: 'held', reasons: [{ field: 'price.amount', minimum: 99, percent: 61.5 }] },
    }),
    'completed, 4,000 of 4,000 collected, held: price.amount in 61.5 % of records, minimum 99 %',
  ],
])('jobWords() formats a job', (given, words) => {
  const points = [0, 500, 1_000, 1_000].map((success, index) => ({
    at: timestampFromMs(index * 30_000),
    success,
    failed: 0,
  }));
  expect(jobWords(given, points)).toBe(words);
});
