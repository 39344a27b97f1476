import { plainIds } from '../../../sandbox/mkta/ids.ts';
import { until } from '../time/until.ts';
import type { Deployment } from './deployment.ts';

/** A response with a JSON body. */
export interface ApiResponse {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape.
  body: any;
}

/** A user with an API key. */
export interface TestUser {
  id: string;
  key: string;
}

/**
 * Sends a request with a JSON body and reads the JSON response. A string body is sent unchanged.
 */
export async function sendJson(
  method: string,
  url: string,
  key: string | null,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<ApiResponse> {
  const response = await fetch(url, {
    method,
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? null : JSON.parse(text),
  };
}

/** Client of one deployment for its operator and its users. */
export interface TestApi {
  /** Calls a method of the operator service as Connect JSON. Throws unless the status is 200. */
  // biome-ignore lint/suspicious/noExplicitAny: as in ApiResponse.
  operator(method: string, body: object): Promise<any>;
  /** Calls a method of JobService with the operator's key, for jobs of every user. */
  // biome-ignore lint/suspicious/noExplicitAny: as in ApiResponse.
  operatorJobs(method: string, body: object): Promise<any>;
  /** As `operator`, but returns the response whatever its status is. */
  tryOperator(method: string, body: object): Promise<ApiResponse>;
  /** Creates a user with the credits and an API key. */
  createUser(credits: number): Promise<TestUser>;
  get(user: TestUser | null, path: string): Promise<ApiResponse>;
  post(
    user: TestUser | null,
    path: string,
    body: unknown,
    headers?: Record<string, string>,
  ): Promise<ApiResponse>;
  delete(user: TestUser | null, path: string): Promise<ApiResponse>;
  balance(user: TestUser): Promise<number>;
  /** Returns the newest 1,000 entries. */
  ledger(user: TestUser): Promise<{ key: string; amount: number; type: string; jobId: string }[]>;
}

/** Creates a client of a deployment. */
export function createApi({ url, operatorKey }: Pick<Deployment, 'url' | 'operatorKey'>): TestApi {
  const connect = (service: string, method: string, key: string, body: object) =>
    sendJson('POST', `${url}/gleaner.${service}/${method}`, key, body);
  const tryOperator = (method: string, body: object) =>
    connect('operator.v1.OperatorService', method, operatorKey, body);
  const require = async (method: string, called: ReturnType<typeof connect>) => {
    const response = await called;
    if (response.status !== 200)
      throw new Error(`${method}: ${response.status} ${JSON.stringify(response.body)}`);
    return response.body;
  };
  const operator = (method: string, body: object) => require(method, tryOperator(method, body));
  const operatorJobs = (method: string, body: object) =>
    require(method, connect('job.v1.JobService', method, operatorKey, body));
  const account = (method: string, user: TestUser, body: object) =>
    require(method, connect('account.v1.AccountService', method, user.key, body));
  return {
    operator,
    operatorJobs,
    tryOperator,
    async createUser(credits) {
      const { user } = await operator('CreateUser', { name: 'Test', email: 'test@example.test' });
      const { apiKey } = await operator('CreateApiKey', { user_id: user.id, name: 'test' });
      if (credits > 0)
        await operator('GrantCredits', { user_id: user.id, amount: credits, note: 'test' });
      return { id: user.id, key: apiKey };
    },
    get: (user, path) => sendJson('GET', url + path, user?.key ?? null),
    post: (user, path, body, headers) =>
      sendJson('POST', url + path, user?.key ?? null, body, headers),
    delete: (user, path) => sendJson('DELETE', url + path, user?.key ?? null),
    balance: async (user) => Number((await account('GetAccount', user, {})).account.balance ?? 0),
    ledger: async (user) => {
      const { entries } = await account('ListLedgerEntries', user, { page_size: 1000 });
      return (entries ?? []).map((entry: { amount: string }) => ({
        ...entry,
        amount: Number(entry.amount),
      }));
    },
  };
}

/** Paths of variant sold. */
export const variantSold = {
  submit: '/v1/mkta/variant_sold_v1/submit',
  retrieve: (jobId: string) => `/v1/mkta/variant_sold_v1/retrieve/${jobId}`,
  download: (jobId: string) => `/v1/mkta/variant_sold_v1/download/${jobId}`,
  item: (jobId: string, itemId: string) =>
    `/v1/mkta/variant_sold_v1/download/${jobId}/item/${itemId}`,
};

/** Terminal statuses of jobs. */
const terminalStatuses: readonly string[] = ['completed', 'partial_complete', 'failed', 'rejected'];

/** An item of a variant-sold submit. */
export interface VariantSoldItem {
  item_id: string;
  shop_id: string;
}

/**
 * Submits items of one country and returns the job's id. Throws unless the submission is accepted.
 */
export async function submitItems(
  api: TestApi,
  user: TestUser,
  country: string,
  items: readonly VariantSoldItem[],
  headers: Record<string, string> = {},
): Promise<string> {
  const { status, body } = await api.post(user, variantSold.submit, { country, items }, headers);
  if (status !== 202) throw new Error(`submit: ${status} ${JSON.stringify(body)}`);
  return body.job_id;
}

/** Result of watchJob(). */
export interface WatchedJob {
  /** Responses of retrieve and download once the job was terminal and its file was available. */
  // biome-ignore lint/suspicious/noExplicitAny: as in ApiResponse.
  retrieve: any;
  // biome-ignore lint/suspicious/noExplicitAny: as in ApiResponse.
  download: any;
  polls: number;
}

/**
 * Polls a variant-sold job until it is terminal and its file is available. Checks in every response
 * that counts never exceed the total, never decrease, and agree with the status. Keeps polling
 * while the service is unreachable, for example because a process was killed.
 */
export async function watchJob(
  api: TestApi,
  user: TestUser,
  jobId: string,
  withinMs: number,
): Promise<WatchedJob> {
  let before = { batches: 0, units: 0 };
  let polls = 0;
  const poll = async (): Promise<WatchedJob | undefined> => {
    // Reads the counts last: they may be newer than the batches, never older.
    const retrieved = await bodyWhenUp(api.get(user, variantSold.retrieve(jobId)));
    const downloaded = await bodyWhenUp(api.get(user, variantSold.download(jobId)));
    if (retrieved === undefined || downloaded === undefined) return undefined;
    polls += 1;
    before = checkProgress(retrieved, downloaded, before);
    const { status, success_count: success, download_url: url } = downloaded;
    if (!terminalStatuses.includes(status) || (success > 0 && url === null)) return undefined;
    return {
      retrieve: await mustGet(api, user, variantSold.retrieve(jobId)),
      download: downloaded,
      polls,
    };
  };
  const errors: Error[] = [];
  const found = await until(
    `job ${jobId} ends`,
    () =>
      poll().catch((error: Error) => {
        errors.push(error);
        return null;
      }),
    { withinMs, everyMs: 100 },
  );
  if (found === null) throw errors[0];
  return found;
}

// biome-ignore lint/suspicious/noExplicitAny: as in ApiResponse.
async function mustGet(api: TestApi, user: TestUser, path: string): Promise<any> {
  const { status, body } = await api.get(user, path);
  if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
  return body;
}

/** Returns the body of a 200, or undefined while the service or an engine is unreachable. */
// biome-ignore lint/suspicious/noExplicitAny: as in ApiResponse.
async function bodyWhenUp(request: Promise<ApiResponse>): Promise<any> {
  const response = await request.catch(() => undefined);
  if (response === undefined || [502, 503].includes(response.status)) return undefined;
  if (response.status !== 200)
    throw new Error(`${response.status} ${JSON.stringify(response.body)}`);
  return response.body;
}

function checkProgress(
  // biome-ignore lint/suspicious/noExplicitAny: as in ApiResponse.
  retrieved: any,
  // biome-ignore lint/suspicious/noExplicitAny: as in ApiResponse.
  downloaded: any,
  before: { batches: number; units: number },
): { batches: number; units: number } {
  const [, done, total] = /^(\d+)\/(\d+) batches complete$/.exec(retrieved.progress)!.map(Number);
  const ended = retrieved.batches.filter(
    ({ status }: { status: string }) => status !== 'PENDING',
  ).length;
  const { success_count: success, failed_count: failed, total_items: items } = downloaded;
  const verify = (holds: boolean, what: string) => {
    if (!holds)
      throw new Error(
        `${what}: ${JSON.stringify({ ...retrieved, batches: ended, downloaded, before })}`,
      );
  };
  verify(
    done === ended && total === retrieved.batches.length,
    'the progress text does not match the batches',
  );
  verify(success + failed <= items, 'more items have ended than the job has');
  verify(done! >= before.batches && success + failed >= before.units, 'progress decreased');
  verify(
    !terminalStatuses.includes(downloaded.status) || success + failed === items,
    'terminal with outstanding items',
  );
  verify(
    !terminalStatuses.includes(retrieved.status) || done === total,
    'terminal with outstanding batches',
  );
  return { batches: done!, units: success + failed };
}

/**
 * Submits a variant-sold job of `count` plain ids, and returns its status once it has ended.
 * Rejects if that takes longer than `withinMs`.
 */
export async function runPlainJob(
  api: TestApi,
  user: TestUser,
  count: number,
  withinMs: number,
): Promise<string> {
  const items = plainIds(count).map((id) => ({ item_id: String(id), shop_id: '77' }));
  const jobId = await submitItems(api, user, 'id', items);
  const { download } = await watchJob(api, user, jobId, withinMs);
  return download.status;
}
