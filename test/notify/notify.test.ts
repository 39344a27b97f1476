import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { plainIds } from '../../sandbox/mkta/ids.ts';
import { mkta } from '../../sandbox/mkta/index.ts';
import { type RunningOrigins, startOrigins } from '../../sandbox/server.ts';
import { newSecret } from '../../src/notify/webhook.ts';
import { openStacks, stacks } from '../support/engines/engines.ts';
import { type MailServer, startMailServer } from '../support/servers/mail-server.ts';
import {
  type ReceivedMessage,
  startReceiver,
  type WebhookReceiver,
} from '../support/servers/receiver.ts';
import {
  createApi,
  sendJson,
  submitItems,
  type TestApi,
  variantSold,
} from '../support/service/api.ts';
import { createDeployment, type Deployment } from '../support/service/deployment.ts';
import { until, withTimeout } from '../support/time/until.ts';

const secret = newSecret();
const timeout = { withinMs: 30_000 };
const items = plainIds(3).map((id) => ({ item_id: String(id), shop_id: '77' }));
const typeOf = ({ body }: ReceivedMessage) => JSON.parse(body).type as string;

describe.each(await openStacks(stacks))('on the $title stack', ({ engines, distributed }) => {
  let origins: RunningOrigins;
  let operators: WebhookReceiver;
  let users: WebhookReceiver;
  let mail: MailServer;
  let deployment: Deployment;
  let api: TestApi;
  beforeAll(async () => {
    if (engines === null) return;
    origins = await startOrigins({ origins: [mkta], latencyMs: 5 });
    operators = await startReceiver();
    users = await startReceiver();
    mail = await startMailServer({ tls: 'none' });
    const settings = {
      GLEANER_OPERATOR_WEBHOOK_URL: operators.url,
      GLEANER_OPERATOR_WEBHOOK_SECRET: secret,
      GLEANER_SMTP_URL: `smtp://127.0.0.1:${mail.port}`,
      GLEANER_EMAIL_FROM: 'gleaner@example.org',
      GLEANER_OPERATOR_EMAIL: 'ann@example.org',
      GLEANER_PRIVATE: 'on',
    };
    deployment = await createDeployment({
      stack: { distributed },
      engines,
      origins,
      settings,
    });
    api = createApi(deployment);
    await deployment.start();
  });
  afterAll(async () => {
    const codes = await deployment?.stop();
    for (const receiver of [operators, users, mail]) await receiver?.close();
    await engines?.stop();
    await origins?.stop();
    if (codes) expect(codes.every((code) => code === 0)).toBe(true);
  });
  const webhook = (key: string, method: string, path = '', body?: object) =>
    sendJson(method, `${deployment.url}/v1/account/webhook${path}`, key, body);

  test.skipIf(engines === null)(
    'notifies operators of decisions to make, and the user of the result',
    async () => {
      const user = await api.createUser(1_000);
      expect(await webhook(user.key, 'GET')).toMatchObject({
        status: 200,
        body: { url: '', enabled: false },
      });
      expect((await webhook(user.key, 'PUT', '', { url: 'http://' })).body.detail).toMatchObject([
        { loc: ['body', 'url'], type: 'value_error' },
      ]);
      expect((await webhook(user.key, 'POST', '/test', {})).status).toBe(404);
      const set = await webhook(user.key, 'PUT', '', { url: users.url });
      expect(set).toMatchObject({ status: 200, body: { url: users.url, enabled: true } });

      const jobId = await submitItems(api, user, 'sg', items);
      await withTimeout(
        'the operators are notified',
        timeout.withinMs,
        Promise.all([operators.waitForMessages(1), mail.waitForMails(1)]),
      );
      const notice = new Webhook(secret).verify(
        operators.received[0]!.body,
        operators.received[0]!.headers as Record<string, string>,
      );
      const link = `${deployment.url}/console/jobs/${jobId}`;
      expect(notice).toMatchObject({
        type: 'job.awaiting_approval',
        data: { job_id: jobId, console_url: link, user_email: 'test@example.test', balance: 1_000 },
      });
      expect(mail.received[0]!.text).toContain(`Approve or reject: ${link}`);

      await api.operator('ApproveJob', { job_id: jobId });
      await withTimeout('the user is notified', timeout.withinMs, users.waitForMessages(1));
      const verifier = new Webhook(set.body.secret);
      const ended = users.received[0]!;
      const message = verifier.verify(ended.body, ended.headers as Record<string, string>) as {
        data: { retrieve_path: string };
      };
      expect(message).toMatchObject({
        type: 'job.ended',
        data: { job_id: jobId, status: 'completed', success: 3, failed: 0 },
      });
      expect(message.data.retrieve_path).toBe(variantSold.retrieve(jobId));
      expect((await api.get(user, message.data.retrieve_path)).body.status).toBe('completed');
    },
  );

  test.skipIf(engines === null)(
    'lists failed deliveries, retries them and redelivers on request',
    async () => {
      const user = await api.createUser(1_000);
      let down = true;
      const own = await startReceiver();
      own.respondWith((_request, response) => response.writeHead(down ? 503 : 200).end('later'));
      await webhook(user.key, 'PUT', '', { url: own.url });
      const test = await webhook(user.key, 'POST', '/test', {});
      expect(test).toMatchObject({ status: 202, body: { type: 'test', state: 'pending' } });
      const log = async () => (await webhook(user.key, 'GET', '/deliveries')).body.deliveries[0];
      const attempted = await until(
        'an attempt',
        async () => ((await log()).attempts > 0 ? log() : undefined),
        timeout,
      );
      expect(attempted).toMatchObject({
        delivery_id: test.body.delivery_id,
        state: 'pending',
        response_status: 503,
        error: 'HTTP 503: later',
        body: { type: 'test' },
      });
      down = false;
      const again = `/deliveries/${attempted.delivery_id}/redeliver`;
      expect((await webhook(user.key, 'POST', again, {})).status).toBe(202);
      await until(
        'the message is delivered',
        async () => ((await log()).state === 'delivered' ? true : undefined),
        timeout,
      );
      const ids = own.received.map(({ headers }) => headers['webhook-id']);
      expect(new Set(ids)).toEqual(new Set([attempted.delivery_id]));
      const all = await api.operator('ListDeliveries', { userId: user.id });
      expect(all.deliveries).toMatchObject([{ state: 'delivered', userId: user.id }]);
      await own.close();
    },
  );

  test.skipIf(engines === null)(
    'stops in time while a receiver hangs and loses no message',
    async () => {
      const user = await api.createUser(1_000);
      const own = await startReceiver();
      own.respondWith(() => {});
      await webhook(user.key, 'PUT', '', { url: own.url });
      await webhook(user.key, 'POST', '/test', {});
      await withTimeout('the receiver hangs', timeout.withinMs, own.waitForMessages(1));
      expect(await deployment.api.stop()).toBe(0);
      own.respondWith((_request, response) => response.writeHead(204).end());
      await deployment.api.start();
      await withTimeout('the message is sent again', timeout.withinMs, own.waitForMessages(2));
      expect(own.received[1]!.headers['webhook-id']).toBe(own.received[0]!.headers['webhook-id']);
      await own.close();
    },
  );

  test.skipIf(engines === null)(
    'delivers a test notification to operators by webhook and email',
    async () => {
      const { deliveries } = await api.operator('TestNotification', {});
      expect(deliveries).toHaveLength(2);
      await until(
        'the email is received',
        () =>
          mail.received.at(-1)?.headers.subject === 'Gleaner test notification' ? true : undefined,
        timeout,
      );
      await until(
        'the webhook message is received',
        () => (operators.received.some((each) => typeOf(each) === 'test') ? true : undefined),
        timeout,
      );
    },
  );
});
