import type { TestApi, TestUser } from '../support/service/api.ts';
import { until } from '../support/time/until.ts';
import type { Shop } from './shop.ts';

/** A job as the test follows it. */
export interface StartedJob {
  jobId: string;
  series: string;
  units: readonly string[];
}

/** Options of a job. */
export interface JobChoice {
  series: string;
  units: readonly string[];
  /** True to hold the job, since no product states a vendor. */
  isHeld?: boolean;
}

/** Changes of a job as the service reports them. */
export interface ReportedChanges {
  status: string;
  changes: string[];
  unchanged: number;
  changedRecords: string[];
}

const polling = { withinMs: 60_000, everyMs: 100 };

/** Calls of one user. */
export class OracleUser {
  readonly api: TestApi;
  readonly user: TestUser;
  readonly shop: Shop;

  constructor(api: TestApi, user: TestUser, shop: Shop) {
    this.api = api;
    this.user = user;
    this.shop = shop;
  }

  async start({ series, units, isHeld = false }: JobChoice): Promise<StartedJob> {
    const options = new URLSearchParams({
      track: series === '' ? 'true' : series,
      keep_pages: '1d',
    });
    if (isHeld) options.set('hold', 'vendor:100');
    const items = units.map((unit) => ({ url: `${this.shop.address}/collections/${unit}` }));
    const path = `/v1/mktf/search/bulk/submit?${options}`;
    const { status, body } = await this.api.post(this.user, path, { items });
    if (status !== 202) throw new Error(`submit: ${status} ${JSON.stringify(body)}`);
    return { jobId: body.job_id, series, units };
  }

  /** Waits until a job has ended. */
  async end(jobId: string): Promise<void> {
    const isEnded = async () => {
      const { body } = await this.api.get(this.user, `/v1/jobs/${jobId}?wait=10s`);
      return body.ended || undefined;
    };
    await until(`job ${jobId} ends`, isEnded, polling);
  }

  /** Waits until a job is compared or held, and returns its changes. */
  async changes(jobId: string): Promise<ReportedChanges> {
    await this.end(jobId);
    const path = `/v1/jobs/${jobId}/changes?page_size=1000`;
    const final = async () => {
      const { body } = await this.api.get(this.user, path);
      return ['done', 'held', 'discarded', 'skipped'].includes(body.status) ? body : undefined;
    };
    const { status, counts, changes } = await until(`job ${jobId} is compared`, final, polling);
    const records =
      status === 'done' ? await this.get(`/v1/jobs/${jobId}/results?format=json&only=changed`) : [];
    return {
      status,
      changes: changes.map(textOf).sort(),
      unchanged: counts.unchanged,
      changedRecords: records.map(({ id }: { id: string }) => id).sort(),
    };
  }

  /** Waits until only the latest observation of an item is left. */
  async untilExpired(id: string): Promise<void> {
    const isExpired = async () => {
      const { observations } = await this.get(`/v1/history/mktf/-/${id}`);
      return observations.length === 1 || undefined;
    };
    await until(`observations of ${id} expire`, isExpired, polling);
  }

  /** Returns the response of a GET request. Throws unless its status is 200. */
  // biome-ignore lint/suspicious/noExplicitAny: responses of every shape.
  async get(path: string): Promise<any> {
    const { status, body } = await this.api.get(this.user, path);
    if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
    return body;
  }

  /** Calls a method of a job. Throws unless it is accepted. */
  // biome-ignore lint/suspicious/noExplicitAny: responses of every shape.
  async post(path: string, request: object = {}): Promise<any> {
    const { status, body } = await this.api.post(this.user, path, request);
    if (status >= 300) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
    return body;
  }
}

/** Formats a change like the model: the values of a product that the store decides. */
function textOf({
  type,
  key,
  fields,
}: {
  type: string;
  key: string;
  fields: { field: string }[];
}): string {
  if (type === 'new' || type === 'missing') return `${type} ${key}`;
  const names = fields.map(({ field }) => field);
  return [type, key, ...['title', 'price'].filter((name) => names.includes(name))].join(' ');
}
