import type { Deployment } from './deployment.ts';
import { until } from './until.ts';

/** A JSON answer. */
export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  body: any;
}

/** A user with a key. */
export interface TestUser {
  id: string;
  key: string;
}

/** Sends a request with a JSON body and reads the JSON answer. */
export async function call(
  method: string,
  url: string,
  key: string | null,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
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
  return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
}

/** Calls of operators and users against one deployment. */
export interface Api {
  /** `operator('ApproveJob', {job_id})`: Connect as JSON; an Error for anything but 200. */
  // biome-ignore lint/suspicious/noExplicitAny: as in Answer.
  operator(method: string, body: object): Promise<any>;
  /** The same, with whatever the answer is. */
  tryOperator(method: string, body: object): Promise<Answer>;
  /** Makes a user with so many credits and a key. */
  createUser(credits: number): Promise<TestUser>;
  get(user: TestUser | null, path: string): Promise<Answer>;
  post(user: TestUser | null, path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>;
  balance(user: TestUser): Promise<number>;
  /** The newest 1,000 entries. */
  ledger(user: TestUser): Promise<{ key: string; amount: number; type: string; jobId: string }[]>;
}

/** Makes the calls. */
export function apiOf({ url, operatorKey }: Pick<Deployment, 'url' | 'operatorKey'>): Api {
  const connect = (service: string, method: string, key: string, body: object) =>
    call('POST', `${url}/gleaner.${service}/${method}`, key, body);
  const tryOperator = (method: string, body: object) =>
    connect('operator.v1.OperatorService', method, operatorKey, body);
  const operator = async (method: string, body: object) => {
    const answer = await tryOperator(method, body);
    if (answer.status !== 200) throw new Error(`${method}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const account = async (method: string, user: TestUser, body: object) => {
    const answer = await connect('account.v1.AccountService', method, user.key, body);
    if (answer.status !== 200) throw new Error(`${method}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  return {
    operator,
    tryOperator,
    async createUser(credits) {
      const { user } = await operator('CreateUser', { name: 'Test', email: 'test@example.test' });
      const { apiKey } = await operator('CreateApiKey', { user_id: user.id, name: 'test' });
      if (credits > 0) await operator('GrantCredits', { user_id: user.id, amount: credits, note: 'test' });
      return { id: user.id, key: apiKey };
    },
    get: (user, path) => call('GET', url + path, user?.key ?? null),
    post: (user, path, body, headers) => call('POST', url + path, user?.key ?? null, body, headers),
    balance: async (user) => Number((await account('GetAccount', user, {})).account.balance ?? 0),
    ledger: async (user) => {
      const { entries } = await account('ListLedgerEntries', user, { page_size: 1000 });
      return (entries ?? []).map((entry: { amount: string }) => ({ ...entry, amount: Number(entry.amount) }));
    },
  };
}

/** Paths of variant sold, in the guide's form. */
export const variantSold = {
  submit: '/v1/mkta/variant_sold_v1/submit',
  retrieve: (jobId: string) => `/v1/mkta/variant_sold_v1/retrieve/${jobId}`,
  download: (jobId: string) => `/v1/mkta/variant_sold_v1/download/${jobId}`,
  item: (jobId: string, itemId: string) => `/v1/mkta/variant_sold_v1/download/${jobId}/item/${itemId}`,
};

/** Status words of jobs that have ended. */
export const terminalStatuses: readonly string[] = ['completed', 'partial_complete', 'failed', 'rejected'];

/** An item of a variant-sold submit. */
export interface Item {
  item_id: string;
  shop_id: string;
}

/** Submits items of one country and gives the job's id; an Error when that is refused. */
export async function submitItems(
  api: Api,
  user: TestUser,
  country: string,
  items: readonly Item[],
  headers: Record<string, string> = {},
): Promise<string> {
  const { status, body } = await api.post(user, variantSold.submit, { country, items }, headers);
  if (status !== 202) throw new Error(`submit: ${status} ${JSON.stringify(body)}`);
  return body.job_id;
}

/** What polling a job saw. */
export interface Watched {
  /** Answers of retrieve and download once the job was terminal and its file was there. */
  // biome-ignore lint/suspicious/noExplicitAny: as in Answer.
  retrieve: any;
  // biome-ignore lint/suspicious/noExplicitAny: as in Answer.
  download: any;
  polls: number;
}

/**
 * Polls a variant-sold job until it is terminal and whole, holding every answer to what progress
 * must be: counts never above the total, never less than before, status and counts of one mind.
 * While nothing answers (a process was killed) it goes on asking.
 */
export async function watchJob(api: Api, user: TestUser, jobId: string, withinMs: number): Promise<Watched> {
  let before = { batches: 0, units: 0 };
  let polls = 0;
  const look = async (): Promise<Watched | undefined> => {
    // Asked in this order: what is done when the counts are read was done or not before, never undone.
    const retrieved = await answered(api.get(user, variantSold.retrieve(jobId)));
    const downloaded = await answered(api.get(user, variantSold.download(jobId)));
    if (retrieved === undefined || downloaded === undefined) return undefined;
    polls += 1;
    before = checkProgress(retrieved, downloaded, before);
    const { status, success_count: success, download_url: url } = downloaded;
    if (!terminalStatuses.includes(status) || (success > 0 && url === null)) return undefined;
    return { retrieve: await mustGet(api, user, variantSold.retrieve(jobId)), download: downloaded, polls };
  };
  const wrong: Error[] = [];
  const found = await until(
    `job ${jobId} ends`,
    () =>
      look().catch((error: Error) => {
        wrong.push(error);
        return null;
      }),
    { withinMs, everyMs: 100 },
  );
  if (found === null) throw wrong[0];
  return found;
}

// biome-ignore lint/suspicious/noExplicitAny: as in Answer.
async function mustGet(api: Api, user: TestUser, path: string): Promise<any> {
  const { status, body } = await api.get(user, path);
  if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
  return body;
}

/** The body of a 200; undefined while nobody answers, an engine is away, or the service is starting. */
// biome-ignore lint/suspicious/noExplicitAny: as in Answer.
async function answered(request: Promise<Answer>): Promise<any> {
  const answer = await request.catch(() => undefined);
  if (answer === undefined || [502, 503].includes(answer.status)) return undefined;
  if (answer.status !== 200) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

function checkProgress(
  // biome-ignore lint/suspicious/noExplicitAny: as in Answer.
  retrieved: any,
  // biome-ignore lint/suspicious/noExplicitAny: as in Answer.
  downloaded: any,
  before: { batches: number; units: number },
): { batches: number; units: number } {
  const [, done, total] = /^(\d+)\/(\d+) batches complete$/.exec(retrieved.progress)!.map(Number);
  const ended = retrieved.batches.filter(({ status }: { status: string }) => status !== 'PENDING').length;
  const { success_count: success, failed_count: failed, total_items: items } = downloaded;
  const claim = (holds: boolean, what: string) => {
    if (!holds)
      throw new Error(`${what}: ${JSON.stringify({ ...retrieved, batches: ended, downloaded, before })}`);
  };
  claim(
    done === ended && total === retrieved.batches.length,
    'the progress text is not what the batches say',
  );
  claim(success + failed <= items, 'more items have ended than there are');
  claim(done! >= before.batches && success + failed >= before.units, 'progress went back');
  claim(
    !terminalStatuses.includes(downloaded.status) || success + failed === items,
    'terminal with outstanding items',
  );
  claim(!terminalStatuses.includes(retrieved.status) || done === total, 'terminal with outstanding batches');
  return { batches: done!, units: success + failed };
}
