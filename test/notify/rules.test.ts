import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { plainIds } from '../../sandbox/mkta/ids.ts';
import { mkta } from '../../sandbox/mkta/index.ts';
import { type RunningOrigins, startOrigins } from '../../sandbox/server.ts';
import { openStacks, stacks } from '../support/engines/engines.ts';
import { type MailServer, startMailServer } from '../support/servers/mail-server.ts';
import { createApi, type TestApi } from '../support/service/api.ts';
import { createDeployment, type Deployment } from '../support/service/deployment.ts';
import { runTracked } from '../support/service/tracked-runs.ts';
import { until } from '../support/time/until.ts';

const withinMs = 30_000;
const [lamp, chair, table] = plainIds(3).map(String) as [string, string, string];

describe.each(await openStacks(stacks))('on the $title stack', ({ engines, distributed }) => {
  let origins: RunningOrigins;
  let mail: MailServer;
  let deployment: Deployment;
  let api: TestApi;
  beforeAll(async () => {
    if (engines === null) return;
    origins = await startOrigins({ origins: [mkta], latencyMs: 1 });
    mail = await startMailServer({ tls: 'none' });
    const settings = {
      GLEANER_SMTP_URL: `smtp://127.0.0.1:${mail.port}`,
      GLEANER_EMAIL_FROM: 'gleaner@example.org',
      GLEANER_OPERATOR_EMAIL: 'ann@example.org',
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
    await deployment?.stop();
    await mail?.close();
    await engines?.stop();
    await origins?.stop();
  });

  test.skipIf(engines === null)(
    'rules send one email for each run and item, and none while a price flaps',
    async () => {
      const user = await api.createUser(1_000);
      for (const [name, threshold] of [
        ['Cheaper', 5],
        ['Bargain', 3],
      ]) {
        const rule = {
          name,
          condition: 'price_falls_by',
          threshold,
          market: 'mkta',
          channel: 'email',
        };
        expect((await api.post(user, '/v1/rules', rule)).status).toBe(200);
      }
      const messages: number[] = [];
      for (const priceFactor of [1, 0.94, 0.96, 0.94, 0.8]) {
        for (const id of [lamp, chair]) origins.changeItem('mkta', 'id', id, { priceFactor });
        if (priceFactor === 0.8) origins.changeItem('mkta', 'id', chair, null);
        const changes = await runTracked(api, user, 'prices', [lamp, chair, table]);
        messages.push(changes.messages);
      }
      expect(messages).toEqual([0, 2, 0, 0, 1]);
      const ofUser = () => mail.received.filter(({ to }) => to.includes('test@example.test'));
      await until('the emails are received', () => ofUser().length >= 3 || undefined, { withinMs });
      const received = ofUser().map(({ text }) => [
        /^Item: +(\d+) on mkta \(id\)$/m.exec(text)?.[1],
        /matches your rules: (.*)\.$/m.exec(text)?.[1]?.split(', ').sort(),
      ]);
      const about = (item: string) => [item, ['Bargain', 'Cheaper']];
      expect(received.sort()).toEqual([about(lamp), about(lamp), about(chair)].sort());
      const { deliveries } = await api.operator('ListDeliveries', { userId: user.id });
      expect(deliveries.map(({ state }: { state: string }) => state)).toEqual(
        Array(3).fill('delivered'),
      );
    },
  );
});
