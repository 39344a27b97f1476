import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { expect, test } from 'vitest';
import { JobSchema } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { FieldDriftSchema, OriginSchema } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { eventsSince, operatorEvents, userEvents } from './events.ts';

const job = (jobId: string, fields: object) =>
  create(JobSchema, { jobId, kind: 'variant_sold', market: 'mkta', total: 3, ...fields });

test('userEvents() has an event for each job that ended', () => {
  const ended = job('1', {
    status: 'partial_complete',
    success: 2,
    failed: 1,
    finishedAt: timestampFromMs(5),
  });
  expect(userEvents([ended, job('2', { status: 'processing' })])).toEqual([
    {
      key: 'ended 1',
      at: timestampFromMs(5),
      title: 'Variant sold on Marketplace A: partial complete',
      detail: '3 of 3, 1 failed',
      to: '/jobs/1',
    },
  ]);
});

test('operatorEvents() has new approvals, paused origins and drift alarms', () => {
  const events = operatorEvents({
    waiting: [job('1', { userName: 'Ann', createdAt: timestampFromMs(1) })],
    origins: [
      create(OriginSchema, { origin: 'https://a.test' }),
      create(OriginSchema, {
        origin: 'https://b.test',
        reason: 'page_blocked',
        since: timestampFromMs(2),
        pausedUntil: timestampFromMs(9),
      }),
    ],
    alarms: [
      create(FieldDriftSchema, { market: 'mktb', page: 'product', field: 'price' }),
      create(FieldDriftSchema, { market: 'mktb', page: 'product', field: 'name', since: timestampFromMs(3) }),
    ],
  });
  expect(events.map(({ title, detail }) => `${title} (${detail})`)).toEqual([
    'Variant sold on Marketplace A: awaiting approval (Ann)',
    'Origin paused: blocked by the marketplace (https://b.test)',
    'Drift alarm on Marketplace B (name is missing from product pages)',
  ]);
});

test('eventsSince() returns later events, newest first', () => {
  const events = userEvents([10, 30, 20].map((ms) => job(String(ms), { finishedAt: timestampFromMs(ms) })));
  expect(eventsSince(events, 10).map(({ to }) => to)).toEqual(['/jobs/30', '/jobs/20']);
});
