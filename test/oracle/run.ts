import type { TestApi } from '../support/service/api.ts';
import { until } from '../support/time/until.ts';
import {
  type ExpectedChanges,
  HistoryModel,
  type JobReading,
  type Product,
  type UnitReading,
} from './model.ts';
import { createRandom, type Random } from './random.ts';
import { OracleUser, type ReportedChanges, type StartedJob } from './service.ts';
import type { Collection, Shop } from './shop.ts';

/** A search for differences between the service and the model. */
export interface OracleRun {
  seed: number;
  steps: number;
  api: TestApi;
  shop: Shop;
  /** Restarts the service at a time after the retention of observations. The run continues then. */
  skipRetention?: () => Promise<void>;
}

const seriesNames = ['', 'daily', 'weekly'];
const ids = ['1', '2', '3', '4', '5'];
const steps = [
  'run',
  'run',
  'overlap',
  'overlap',
  'hold',
  'decide',
  'retry',
  'reread',
  'forget',
] as const;

/**
 * Runs random jobs of a user on a store that changes, and returns the differences from the model.
 */
export async function runOracle({
  seed,
  steps: count,
  api,
  shop,
  skipRetention,
}: OracleRun): Promise<string[]> {
  const oracle = new Oracle(
    createRandom(seed),
    new OracleUser(api, await api.createUser(1_000_000), shop),
    seed,
  );
  for (let step = 0; step < count; step++) await oracle.step(step);
  const other = new OracleUser(api, await api.createUser(1_000), shop);
  await other.changes((await other.start({ series: 'daily', units: [oracle.units[0]!] })).jobId);
  await api.operator('DeleteUser', { userId: other.user.id });
  await oracle.checkHistory('the deletion of another user');
  if (skipRetention !== undefined) await oracle.expire(skipRetention);
  return oracle.differences;
}

class Oracle {
  readonly differences: string[] = [];
  /** Names of this run's collections. */
  readonly units: readonly string[];
  private readonly random: Random;
  private readonly client: OracleUser;
  private readonly model = new HistoryModel();
  private readonly products = new Map<string, Product>();
  private readonly held: JobReading[] = [];
  /** Latest job with units that a retry reads, and these units. */
  private retryable: StartedJob | null = null;
  private compared: string[] = [];
  private readings = 0;
  private ends = 0;

  constructor(random: Random, client: OracleUser, seed: number) {
    this.random = random;
    this.client = client;
    this.units = [0, 1, 2].map((index) => `c${seed}-${index}`);
    for (const id of ids) this.products.set(id, { title: `Product ${id}`, price: 10 });
    for (const unit of this.units) this.fill(unit);
  }

  async step(index: number): Promise<void> {
    const step = this.random.pick(steps);
    const place = `step ${index} (${step})`;
    this.change({ mayBreak: step !== 'overlap' });
    if (step === 'overlap') await this.overlap(place);
    else if (step === 'hold') await this.holdJob(place);
    else if (step === 'decide' && this.held.length > 0) await this.decide(place);
    else if (step === 'retry' && this.retryable !== null) await this.retry(place);
    else if (step === 'reread' && this.compared.length > 0) await this.reread();
    else if (step === 'forget' && this.compared.length > 0) await this.forget();
    else await this.run(place);
    await this.checkHistory(place);
  }

  /**
   * Skips the retention, so that only the latest observation of each item is left, and runs two
   * more jobs.
   */
  async expire(skipRetention: () => Promise<void>): Promise<void> {
    const changed = [...this.model.observations].filter(
      ([, observations]) => observations.length > 1,
    );
    this.model.expire();
    await skipRetention();
    for (const [id] of changed) await this.client.untilExpired(id);
    await this.checkHistory('after the retention');
    for (const place of ['a run after the retention', 'the next one']) {
      this.change({ mayBreak: false });
      await this.run(place);
      await this.checkHistory(place);
    }
  }

  /** Changes products, and what the collections list. A broken one is read several times. */
  private change({ mayBreak }: { mayBreak: boolean }): void {
    for (const id of this.random.some(ids, 0).slice(0, 2)) {
      const { title, price } = this.products.get(id)!;
      const isTitle = this.random.below(3) === 0;
      const next = isTitle
        ? { title: `${title}*`, price }
        : { title, price: 5 + this.random.below(9) };
      this.products.set(id, next);
    }
    for (const unit of this.units) this.fill(unit, mayBreak);
  }

  private fill(unit: string, mayBreak = false): void {
    const kind = this.random.below(12);
    const listed = this.random.some(ids, 2).map((id) => [id, this.products.get(id)!] as const);
    const failures: Collection[] = ['gone', 'moved', 'moved', mayBreak ? 'broken' : 'moved'];
    this.client.shop.collections.set(unit, failures[kind] ?? new Map(listed));
  }

  private read(unit: string): UnitReading {
    const collection = this.client.shop.collections.get(unit)!;
    const products = typeof collection === 'string' ? undefined : collection;
    return { unit, at: ++this.readings, products: collection === 'gone' ? null : products };
  }

  private chooseUnits(min = 1): string[] {
    return this.random.some(this.units, min);
  }

  private async run(place: string): Promise<void> {
    const job = await this.client.start({
      series: this.random.pick(seriesNames),
      units: this.chooseUnits(),
    });
    const units = job.units.map((unit) => this.read(unit));
    await this.compare(place, job, units);
  }

  /** Runs a job to its end while another one of the series waits for its last unit. */
  private async overlap(place: string): Promise<void> {
    const { shop } = this.client;
    const series = this.random.pick(seriesNames.slice(1));
    const units = this.chooseUnits(2);
    const last = units.at(-1)!;
    const before = new Map(units.map((unit) => [unit, shop.requests(unit)]));
    const open = shop.hold(last);
    const slow = await this.client.start({ series, units });
    const isRequested = async () =>
      units.every((unit) => shop.requests(unit) > before.get(unit)!) || undefined;
    await until('every unit is requested', isRequested, { withinMs: 60_000 });
    const slowReadings = units.map((unit) => this.read(unit));
    this.change({ mayBreak: false });
    const others = this.units.filter((unit) => unit !== last);
    const fast = await this.client.start({ series, units: this.random.some(others, 1) });
    await this.compare(
      `${place}, the fast job`,
      fast,
      fast.units.map((unit) => this.read(unit)),
    );
    open();
    await this.compare(`${place}, the slow job`, slow, slowReadings);
  }

  private async holdJob(place: string): Promise<void> {
    const choice = {
      series: this.random.pick(seriesNames),
      units: this.chooseUnits(),
      isHeld: true,
    };
    const job = await this.client.start(choice);
    await this.compare(
      place,
      job,
      job.units.map((unit) => this.read(unit)),
    );
  }

  private async decide(place: string): Promise<void> {
    const [job] = this.held.splice(this.random.below(this.held.length), 1);
    const discard = this.random.below(3) === 0;
    await this.client.post(`/v1/jobs/${job!.jobId}/release?discard=${discard}`);
    if (!discard) this.check(place, await this.released(job!.jobId), this.model.compare(job!));
  }

  /** Returns the changes of a released job. */
  private released(jobId: string): Promise<ReportedChanges> {
    const compared = async () => {
      const changes = await this.client.changes(jobId);
      return changes.status === 'held' ? undefined : changes;
    };
    return until(`job ${jobId} is released`, compared, { withinMs: 60_000 });
  }

  private async retry(place: string): Promise<void> {
    const first = this.retryable!;
    this.retryable = null;
    const { job_id: jobId } = await this.client.post(`/v1/jobs/${first.jobId}/retry`);
    const units = first.units.map((unit) => this.read(unit));
    await this.compare(place, { ...first, jobId }, units);
  }

  /** Reads the kept pages of a job again, which is not compared. */
  private async reread(): Promise<void> {
    const body = await this.client.post(`/v1/jobs/${this.random.pick(this.compared)}/reread`);
    await this.client.end(body.job_id);
  }

  /** Deletes the files of a job, whose history is kept. */
  private async forget(): Promise<void> {
    const [jobId] = this.compared.splice(this.random.below(this.compared.length), 1);
    const { api, user } = this.client;
    const { status } = await api.delete(user, `/v1/jobs/${jobId}/files`);
    if (status !== 200) throw new Error(`deletion of files: ${status}`);
    if (this.retryable?.jobId === jobId) this.retryable = null;
  }

  private async compare(
    place: string,
    job: StartedJob,
    units: readonly UnitReading[],
  ): Promise<void> {
    const { jobId, series } = job;
    const changes = await this.client.changes(jobId);
    const reading: JobReading = { jobId, series, endedAt: ++this.ends, units };
    if (changes.status === 'held') {
      this.held.push(reading);
      return;
    }
    this.check(place, changes, this.model.compare(reading));
    const broken = job.units.filter((unit) => this.client.shop.collections.get(unit) === 'broken');
    if (broken.length > 0) this.retryable = { ...job, units: broken };
    if (units.some(({ products }) => products)) this.compared.push(jobId);
  }

  private check(
    place: string,
    { status, ...changes }: ReportedChanges,
    expected: ExpectedChanges,
  ): void {
    this.expectEqual(`${place}: status`, status, 'done');
    this.expectEqual(`${place}: changes`, changes, expected);
  }

  /** Compares the observations of all items, and the presence in all series. */
  async checkHistory(place: string): Promise<void> {
    for (const [id, expected] of this.model.observations) {
      const { observations } = await this.client.get(`/v1/history/mktf/-/${id}`);
      type Found = { job_id: string; values: Product; observed_at: string; ended_at?: string };
      const found = (observations as Found[]).toReversed();
      this.expectEqual(
        `${place}: observations of ${id}`,
        found.map(({ job_id: jobId, values: { title, price } }) => ({
          jobId,
          product: { title, price },
        })),
        expected,
      );
      this.expectEqual(
        `${place}: ends of the observations of ${id}`,
        found.slice(0, -1).map(({ ended_at: end }) => end),
        found.slice(1).map(({ observed_at: start }) => start),
      );
    }
    for (const series of seriesNames.slice(1)) {
      const { items } = await this.client.get(`/v1/history?series=${series}`);
      const present = items.map(({ key, present: its }: { key: string; present: boolean }) => [
        key,
        its,
      ]);
      const sorted = (entries: [string, boolean][]) =>
        entries.sort(([one], [other]) => (one < other ? -1 : 1));
      const expected = Object.entries(this.model.presence(series));
      this.expectEqual(`${place}: presence in ${series}`, sorted(present), sorted(expected));
    }
  }

  private expectEqual(what: string, found: unknown, expected: unknown): void {
    const [got, want] = [JSON.stringify(found), JSON.stringify(expected)];
    if (got !== want) this.differences.push(`${what}: ${got}, expected ${want}`);
  }
}
