import { beforeEach, expect, test } from 'vitest';
import { AccountService } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { type JobFixture, openJobFixture } from '../../../test/support/jobs/jobs.ts';
import { type CoreCaller, openCore, type TestCore } from '../../../test/support/rpc/core.ts';
import type { NoticeSettings } from '../../base/notification-settings.ts';
import { newDelivery } from '../../notify/message.ts';
import { newSecret } from '../../notify/webhook.ts';
import { recordAttempt } from '../../store/deliveries.ts';

const {
  getWebhook,
  setWebhook,
  rotateWebhookSecret,
  testWebhook,
  listDeliveries,
  redeliverWebhook,
} = AccountService.method;
const operators = OperatorService.method;
const url = 'https://receiver.example/hook';
const smtp = { host: '127.0.0.1', port: 25, tls: 'off', login: null } as const;
const notices: NoticeSettings = {
  operatorWebhook: { url: 'http://10.0.0.7/ops', secret: newSecret() },
  email: { smtp, from: 'gleaner@example.org', to: ['ann@example.org', 'bob@example.org'] },
  privateWebhooks: false,
};

let fixture: JobFixture;
let core: TestCore;
let userId: string;
let user: CoreCaller;
beforeEach(async () => {
  fixture = await openJobFixture({ notices });
  core = await openCore(fixture.context);
  userId = await fixture.createUser(0);
  user = (await core.createKey(userId)).caller;
  return () => fixture.close();
});

test('users set, change, rotate, test and delete their webhook', async () => {
  expect(await user.call(getWebhook, {})).toMatchObject({ url: '', enabled: false, secret: '' });
  expect((await user.call(getWebhook, {})).updatedAt).toBeUndefined();
  const set = await user.call(setWebhook, { url: `${url}#part` });
  expect(set).toMatchObject({
    url,
    enabled: true,
    secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
  });
  expect(await user.call(getWebhook, {})).toEqual(set);
  const off = await user.call(setWebhook, { url: 'http://other.example:8080', disabled: true });
  expect(off).toMatchObject({
    url: 'http://other.example:8080/',
    enabled: false,
    secret: set.secret,
  });
  await expect(user.call(testWebhook, {})).rejects.toMatchObject({ code: 'not_found' });
  const rotated = await user.call(rotateWebhookSecret, {});
  expect(rotated).toMatchObject({ url: off.url, enabled: false });
  expect(rotated.secret).not.toBe(set.secret);
  expect(await user.call(setWebhook, { url: '' })).toMatchObject({ url: '', secret: '' });
  for (const method of [testWebhook, rotateWebhookSecret] as const) {
    await expect(user.call(method, {})).rejects.toMatchObject({ code: 'not_found' });
  }
  expect((await user.call(setWebhook, { url })).secret).not.toBe(rotated.secret);
});

test('a webhook that is sent back as it was read stays enabled or disabled', async () => {
  for (const disabled of [true, false]) {
    await user.call(setWebhook, { url, disabled });
    const read = await user.call(getWebhook, {});
    const sentBack = { url: read.url, enabled: read.enabled };
    expect((await user.call(setWebhook, sentBack)).enabled).toBe(!disabled);
  }
  const contradiction = user.call(setWebhook, { url, enabled: true, disabled: true });
  await expect(contradiction).rejects.toMatchObject({ problems: [{ loc: ['body', 'enabled'] }] });
});

test.each([
  'no address',
  'ftp://receiver.example/',
  'https://ann:x@receiver.example/',
  'http://10.0.0.1/',
  'http://localhost/',
])('rejects the address %s and names the field', async (bad) => {
  await expect(user.call(setWebhook, { url: bad })).rejects.toMatchObject({
    code: 'invalid',
    problems: [{ loc: ['body', 'url'], type: 'value_error' }],
  });
});

test('users list and redeliver only their own deliveries; operators list all', async () => {
  await user.call(setWebhook, { url });
  const sent = await user.call(testWebhook, {});
  expect(sent).toMatchObject({
    type: 'test',
    channel: 'webhook',
    state: 'pending',
    target: 'https://receiver.example/…',
    attempts: 0,
    userId,
  });
  expect(JSON.parse(sent.body)).toMatchObject({ type: 'test', data: {} });
  await fixture.clock.advance(1);
  const again = await user.call(testWebhook, {});
  const first = await user.call(listDeliveries, { pageSize: 1 });
  expect(first.deliveries).toEqual([again]);
  const second = await user.call(listDeliveries, { pageSize: 1, pageToken: first.nextPageToken });
  expect(second).toMatchObject({ deliveries: [sent], nextPageToken: '' });

  const other = (await core.createKey(await fixture.createUser(0))).caller;
  expect((await other.call(listDeliveries, {})).deliveries).toEqual([]);
  const which = { deliveryId: sent.deliveryId };
  await expect(other.call(redeliverWebhook, which)).rejects.toMatchObject({ code: 'not_found' });
  const [taken] = await fixture.context.store.deliveries.claimDue(
    fixture.clock.now(),
    fixture.clock.now() + 1,
    1,
  );
  await recordAttempt(fixture.context.store, taken!, {
    target: url,
    responseStatus: 500,
    error: 'HTTP 500',
    state: 'failed',
    nextAttemptAt: null,
    endedAt: fixture.clock.now(),
  });
  const failed = (await user.call(listDeliveries, {})).deliveries.find(
    ({ state }) => state === 'failed',
  );
  expect(failed).toMatchObject({ attempts: 1, responseStatus: 500, error: 'HTTP 500' });
  expect(failed!.nextAttemptAt).toBeUndefined();
  const redelivered = await user.call(redeliverWebhook, { deliveryId: failed!.deliveryId });
  expect(redelivered).toMatchObject({ state: 'pending', deliveryId: failed!.deliveryId });
  expect(redelivered.nextAttemptAt).toBeDefined();

  const all = await core.operator.call(operators.listDeliveries, {});
  expect(all.deliveries).toHaveLength(2);
  const ofOther = await core.operator.call(operators.listDeliveries, { userId: 'nobody' });
  expect(ofOther.deliveries).toEqual([]);
});

test('testNotification sends to every address of the operators', async () => {
  const { deliveries } = await core.operator.call(operators.testNotification, {});
  expect(deliveries.map(({ channel, target, userId: whose }) => [channel, target, whose])).toEqual([
    ['webhook', 'http://10.0.0.7/…', ''],
    ['email', 'ann@example.org', ''],
    ['email', 'bob@example.org', ''],
  ]);
  expect((await core.operator.call(operators.listDeliveries, {})).deliveries).toHaveLength(3);
  expect((await user.call(listDeliveries, {})).deliveries).toEqual([]);
});

test('the delivery of a file names its destination', async () => {
  const destinationId = '5f7a1c7e-0a54-4c5c-9a8e-3f6b0c1d2e3f';
  const address = {
    userId,
    channel: 'file',
    target: 'https://files.example/a.csv',
    destinationId,
  } as const;
  const message = { type: 'job.results', about: 'j', jobId: 'j', body: '{}' } as const;
  const { store, clock } = fixture.context;
  await store.deliveries.insert(newDelivery('d', address, message, clock));
  const { deliveries } = await user.call(listDeliveries, {});
  expect(deliveries).toMatchObject([{ channel: 'file', target: address.target, destinationId }]);
});
