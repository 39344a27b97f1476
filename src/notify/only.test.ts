import { afterEach, expect, test } from 'vitest';
import { putAddress, storeDestination } from '../../test/support/jobs/destinations.ts';
import {
  type NotificationFixture,
  openNotifications,
} from '../../test/support/jobs/notifications.ts';
import { openTracking } from '../../test/support/jobs/tracking.ts';

const [lamp, chair] = ['30000000001', '30000000002'] as const;
const options = { deliverTo: 'warehouse', only: 'changed' };

let fixture: NotificationFixture;
let userId: string;
afterEach(() => fixture.close());

/** Opens the fixture with a user who has a destination, and a worker. */
async function open() {
  fixture = await openNotifications({ approval: true });
  userId = await fixture.jobs.createUser(10_000);
  await storeDestination(fixture.jobs.context, userId, putAddress(`${fixture.receiver.url}/inbox`));
  await fixture.jobs.startWorker();
  return openTracking(fixture.jobs);
}

const delivered = () =>
  fixture.receiver.received.map(({ body }) =>
    body
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line).unit_key),
  );

test('files with only=changed wait for the comparison, and contain what changed', async () => {
  const tracking = await open();
  const deliver = async () => {
    await tracking.end(userId, [lamp, chair], 'daily', options);
    const before = delivered().length;
    await fixture.poll();
    expect(delivered()).toHaveLength(before);
    await tracking.compare();
    await fixture.jobs.clock.advance(2_000);
    for (let turn = 0; turn < 2; turn += 1) await fixture.poll();
  };
  await deliver();
  tracking.changeItem(chair, { priceFactor: 0.5 });
  await deliver();
  await deliver();
  expect(delivered()).toEqual([[lamp, chair], [chair], []]);
});

test('only=changed is refused for a job that is not tracked, without a charge', async () => {
  const tracking = await open();
  const before = await fixture.jobs.balance(userId);
  await expect(tracking.end(userId, [lamp], 'false', options)).rejects.toMatchObject({
    code: 'invalid',
    problems: [{ loc: ['query', 'only'], type: 'value_error' }],
  });
  expect(await fixture.jobs.balance(userId)).toBe(before);
});
