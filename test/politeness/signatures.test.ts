import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { plainIds } from '../../sandbox/mkta/ids.ts';
import { mkta } from '../../sandbox/mkta/index.ts';
import { type RunningOrigins, startOrigins } from '../../sandbox/server.ts';
import { openStacks, stacks } from '../support/engines/engines.ts';
import { type PublicJwk, verifyMessage } from '../support/servers/message-signature.ts';
import { createApi, submitItems, watchJob } from '../support/service/api.ts';
import { createDeployment, type Deployment } from '../support/service/deployment.ts';

const agent = 'https://gleaner.example';
const directoryPath = '/.well-known/http-message-signatures-directory';

describe.each(await openStacks(stacks))('on the $title stack', ({ engines, distributed }) => {
  let origins: RunningOrigins;
  let deployment: Deployment;
  /** Results of the verification of each request: the id of its nonce, or the problem. */
  const nonces: string[] = [];
  const problems: string[] = [];
  let keys: (PublicJwk & { kid: string })[] = [];
  const keyOf = (id: string) => keys.find(({ kid }) => kid === id);

  /** A marketplace that answers requests with a valid signature only. */
  const site = http.createServer((request, response) => {
    const { method = '', url = '', headers } = request;
    const fail = (problem: string) => {
      problems.push(problem);
      response.writeHead(403).end();
    };
    try {
      const [{ parameters, components }] = verifyMessage(
        { method, url: `http://${headers.host}${url}`, headers },
        keyOf,
      ) as [ReturnType<typeof verifyMessage>[number]];
      const { tag, created, expires, nonce } = parameters as Record<string, number>;
      if (
        `${tag}` !== 'web-bot-auth' ||
        !(created! * 1000 <= Date.now() && Date.now() < expires! * 1000)
      )
        return fail(`${tag} ${created} ${expires}`);
      if (!components.includes('"@authority"') || headers['signature-agent'] !== `sig1="${agent}"`)
        return fail(`${components.join(' ')} ${headers['signature-agent']}`);
      nonces.push(`${nonce}`);
    } catch (error) {
      return fail((error as Error).message);
    }
    const forwarded = http.get(origins.address('mkta', 'sg') + url, (from) => {
      response.writeHead(from.statusCode!, from.headers);
      from.pipe(response);
    });
    forwarded.on('error', () => response.destroy());
  });

  beforeAll(async () => {
    if (engines === null) return;
    origins = await startOrigins({ origins: [mkta], misbehaviour: 'none', latencyMs: 1 });
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    const sg = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
    deployment = await createDeployment({
      stack: { distributed },
      engines,
      origins: { ...origins, config: { mkta: { sg, sign: true } } as never },
      layout: { apis: 1, workers: 1, gateways: 1 },
      settings: {
        GLEANER_PUBLIC_URL: `${agent}/`,
        GLEANER_LINK_SECRETS: 'a-secret-of-the-test'.repeat(2),
      },
    });
    await deployment.start();
  });
  afterAll(async () => {
    await deployment?.stop();
    site.closeAllConnections();
    site.close();
    await engines?.stop();
    await origins?.stop();
  });

  test.skipIf(engines === null)(
    'a site reads the keys of the service and verifies its requests',
    async () => {
      for (const url of deployment.urls) {
        const response = await fetch(url + directoryPath, { headers: { 'accept-encoding': 'br' } });
        expect(response.status).toBe(200);
        expect(response.headers.get('content-type')).toMatch(
          /^application\/http-message-signatures-directory\+json/,
        );
        keys = ((await response.json()) as { keys: typeof keys }).keys;
        const request = { method: 'GET', url: agent + directoryPath, headers: {} };
        verifyMessage({ headers: Object.fromEntries(response.headers), request }, keyOf);
      }
      const api = createApi(deployment);
      const user = await api.createUser(1_000);
      const items = plainIds(5).map((id) => ({ item_id: `${id}`, shop_id: '7' }));
      const jobId = await submitItems(api, user, 'sg', items);
      await api.operator('ApproveJob', { job_id: jobId });
      const { download } = await watchJob(api, user, jobId, 30_000);
      expect(problems).toEqual([]);
      expect(download).toMatchObject({ status: 'completed', success_count: 5 });
      expect(nonces.length).toBeGreaterThanOrEqual(5);
      expect(new Set(nonces).size).toBe(nonces.length);
    },
  );
});
