import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { expect, test } from 'vitest';
import { JobSchema } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { span } from './print.ts';
import { jobWords, secondsLeft } from './progress.ts';

const job = (parts: MessageInitShape<typeof JobSchema>) =>
  create(JobSchema, { status: 'processing', total: 4_000, startedAt: timestampFromMs(0), ...parts });

test.each([
  [job({ success: 900, failed: 100 }), 60_000, 180],
  [job({ success: 0 }), 60_000, undefined],
  [create(JobSchema, { success: 1, total: 2 }), 60_000, undefined],
  [job({ success: 4_000, ended: true }), 60_000, 0],
])('secondsLeft() extrapolates the rate since the start', (given, now, left) => {
  expect(secondsLeft(given, now)).toBe(left);
});

test.each([
  [job({ success: 900, failed: 100 }), 'processing 1,000/4,000, 100 failed, 3:00 left'],
  [job({ waitingFor: 'waiting for mkta/id' }), 'processing 0/4,000, waiting for mkta/id'],
  [job({ success: 3_999, waitingFor: 'mkta/id: blocked' }), 'processing 3,999/4,000, mkta/id: blocked'],
  [
    job({ status: 'rejected', failed: 4_000, ended: true, reason: 'Too dear.' }),
    'rejected 4,000/4,000, 4,000 failed: Too dear.',
  ],
])('jobWords() formats a job', (given, words) => {
  expect(jobWords(given, 60_000)).toBe(words);
});

test.each([
  [0.4, '0:00'],
  [75, '1:15'],
  [3_909, '1:05:09'],
  [undefined, '?'],
  [Number.POSITIVE_INFINITY, '?'],
])('span() formats %s seconds as %s', (seconds, text) => {
  expect(span(seconds)).toBe(text);
});
