import { origins } from '../../sandbox/list.ts';
import { type RunningOrigins, startOrigins } from '../../sandbox/server.ts';
import { startReceiver } from '../support/servers/receiver.ts';
import { createApi, sendJson, type TestApi, type TestUser } from '../support/service/api.ts';
import { createDeployment, type Deployment } from '../support/service/deployment.ts';
import { until } from '../support/time/until.ts';
import { aSchedule, poorCredits } from './bodies.ts';
import { sendRest } from './rest.ts';
import type { CallerName, Marketplace, Prepared } from './table.ts';

/** A service on fake marketplaces with the callers and jobs that the tables refer to. */
export interface Stage {
  deployment: Deployment;
  /** API keys. Null for a caller that sends none. */
  keys: Readonly<Record<CallerName, string | null>>;
  /** Replaces `{…}` placeholders. */
  fill(text: string): string;
  close(): Promise<void>;
}

/** The webhook of the caller `other`, on a domain that never resolves. */
export const webhookUrl = 'https://hooks.invalid/gleaner';

const plenty = 10_000_000;
const endsWithinMs = 30_000;

/** Opens the stage for tables. */
export async function openStage(tables: readonly Marketplace[]): Promise<Stage> {
  const [running, receiver] = await Promise.all([startOrigins({ origins }), startReceiver()]);
  const deployment = await createDeployment({
    stack: { distributed: false },
    engines: { settings: {}, mongo: null, nats: null, stop: async () => {} },
    origins: running,
    // The default would cache responses about running jobs for longer than a test waits.
    settings: { GLEANER_RETRIEVE_CACHE: '100ms,24h', GLEANER_PRIVATE: 'on' },
  });
  const close = async () => {
    await deployment.stop();
    await running.stop();
    await receiver.close();
  };
  try {
    await deployment.start();
    const api = createApi(deployment);
    const [user, other, poor, revoked] = await Promise.all([
      api.createUser(plenty),
      api.createUser(plenty),
      api.createUser(poorCredits),
      revokedUser(api, deployment),
    ]);
    const keyOf = async (limits: object): Promise<string> =>
      (await api.operator('CreateApiKey', { user_id: user.id, name: 'limited', ...limits })).apiKey;
    const spare = await api.operator('CreateApiKey', { user_id: user.id, name: 'spare' });
    const places = new Map([
      ['store', storeOf(running)],
      ['spare key', spare.keyId as string],
      ['message', await messageOf(deployment, other)],
      ['schedule', await scheduleOf(deployment, user)],
      ['rule', await ruleOf(deployment, user)],
      ['receiver', receiver.url],
      ['destination', await destinationOf(deployment, user, receiver.url)],
    ]);
    const stage: Stage = {
      deployment,
      keys: {
        user: user.key,
        other: other.key,
        poor: poor.key,
        revoked: revoked.key,
        operator: deployment.operatorKey,
        unknown: 'gl_unknown-key',
        nobody: null,
        reader: await keyOf({ scopes: ['read'] }),
        submitter: await keyOf({ scopes: ['submit'] }),
        limited: await keyOf({ credit_ceiling: poorCredits }),
      },
      fill: (text) =>
        text.replaceAll(/\{([a-z][^{}]*)\}/g, (whole, name: string) => places.get(name) ?? whole),
      close,
    };
    const jobs = tables.flatMap((table) => Object.entries(table.jobs));
    await Promise.all(jobs.map(([name, job]) => prepare(stage, api, user, name, job, places)));
    return stage;
  } catch (error) {
    await close();
    throw error;
  }
}

function storeOf({ address }: RunningOrigins): string {
  return address('mktf', '');
}

/** Sets a webhook on an unreachable host and sends a test message to it. Returns the message id. */
async function messageOf({ url }: Deployment, { key }: TestUser): Promise<string> {
  const account = async (method: string, body: object) =>
    (await sendJson('POST', `${url}/gleaner.account.v1.AccountService/${method}`, key, body)).body;
  await account('SetWebhook', { url: webhookUrl });
  return (await account('TestWebhook', {})).deliveryId;
}

/** Creates a schedule without a run in the near future. Returns its id. */
async function scheduleOf({ url }: Deployment, { key }: TestUser): Promise<string> {
  const created = await sendJson('POST', `${url}/v1/schedules`, key, aSchedule);
  return created.body.schedule_id;
}

/** Creates a rule and returns its id. */
async function ruleOf({ url }: Deployment, { key }: TestUser): Promise<string> {
  const { body } = await sendJson('POST', `${url}/v1/rules`, key, { condition: 'out_of_stock' });
  return body.rule_id;
}

/** Creates a destination at a receiver, and returns its id. */
async function destinationOf(
  { url }: Deployment,
  { key }: TestUser,
  receiver: string,
): Promise<string> {
  const request = { name: 'inbox', type: 'https', url: receiver };
  const { body } = await sendJson('POST', `${url}/v1/destinations`, key, request);
  return body.destination.destination_id;
}

async function revokedUser(api: TestApi, { url }: Deployment): Promise<TestUser> {
  const user = await api.createUser(0);
  const account = (method: string, body: object) =>
    sendJson('POST', `${url}/gleaner.account.v1.AccountService/${method}`, user.key, body);
  const { body } = await account('ListApiKeys', {});
  await account('RevokeApiKey', { key_id: body.keys[0].keyId });
  return user;
}

/**
 * Submits a job, decides on it, waits for its end if requested, and stores its id and item tokens.
 */
async function prepare(
  stage: Stage,
  api: TestApi,
  user: TestUser,
  name: string,
  { submit, decide, ends, ...request }: Prepared,
  places: Map<string, string>,
): Promise<void> {
  const submitted = await sendRest(stage, 'POST', submit, { ...request });
  if (submitted.status !== 202) throw new Error(`${name}: ${submitted.status} ${submitted.text}`);
  const { job_id: jobId, task_id: taskId } = submitted.json();
  const id = String(jobId ?? taskId);
  places.set(name, id);
  if (decide === 'approve') await api.operator('ApproveJob', { job_id: id });
  if (decide === 'reject')
    await api.operator('RejectJob', { job_id: id, reason: 'Too expensive.' });
  if (!ends) return;
  const path = submit.replace('/submit', `/retrieve/${id}`);
  const ended = await until(
    `${name} ends`,
    async () => {
      const { body } = await api.get(user, path);
      return isOver(body) ? body : undefined;
    },
    { withinMs: endsWithinMs },
  );
  for (const [at, item] of (ended.items ?? []).entries()) {
    const token = /\/items\/([^/]+)\/data$/.exec(item.download_url ?? '')?.[1];
    if (token !== undefined) places.set(`${name}/${at}`, token);
  }
  if (request.options?.track === undefined) return;
  await until(
    `${name} is compared`,
    async () => (await api.get(user, `/v1/jobs/${id}/changes`)).body.status === 'done' || undefined,
    { withinMs: endsWithinMs },
  );
}

function isOver({ status, message }: { status: string; message?: string | null }): boolean {
  return (
    !['awaiting_approval', 'initializing', 'pending', 'processing'].includes(status) && !message
  );
}
