import type { JobSettings } from '../../../src/jobs/context.ts';
import { approve } from '../../../src/jobs/steps/decide.ts';
import { runDueSchedules } from '../../../src/schedules/advance.ts';
import type { ScheduleCaller } from '../../../src/schedules/change.ts';
import { createSchedule, type NewSchedule } from '../../../src/schedules/edit.ts';
import { aKey } from '../../../src/store/conformance/samples.ts';
import type { ApiKey, Job, JobState } from '../../../src/store/documents.ts';
import type { Schedule, ScheduleRun } from '../../../src/store/schedules.ts';
import type { Store } from '../../../src/store/store.ts';
import { type JobFixture, openJobFixture } from './jobs.ts';

/** Fields of a key that tests choose. */
type KeyFields = Partial<Pick<ApiKey, 'creditCeiling' | 'expiresAt'>>;

/**
 * The steps of schedules within the test process. Runs are due every minute, and cost 8 credits.
 */
export interface ScheduleFixture extends JobFixture {
  /** Creates a user with a key. */
  createCaller(credits: number, key?: KeyFields): Promise<ScheduleCaller>;
  /** Creates a key of a user, and returns its id. */
  createKey(userId: string, key?: KeyFields): Promise<string>;
  create(
    caller: ScheduleCaller,
    fields?: Partial<NewSchedule>,
    idempotencyKey?: string,
  ): Promise<Schedule>;
  get(id: string): Promise<Schedule>;
  /** Approves the job of the latest open run by the operator `operator-1`. */
  approve(id: string): Promise<Job>;
  /** Returns the runs, oldest first. */
  runs(id: string): Promise<ScheduleRun[]>;
  /** Advances the clock and runs the due work. */
  tick(ms: number): Promise<void>;
  /** Ends the running job of a run as if its units were read. */
  endJob(jobId: string | null, state?: JobState, refunded?: number): Promise<void>;
}

/** One minute in milliseconds. */
export const minute = 60_000;

const csv = 'region,shop_id,item_id\nsg,77,30000000001\n';

/** Request of a CSV job with one row. */
export const csvRequest = (text = csv) =>
  JSON.stringify({ file: Buffer.from(text).toString('base64') });

/** Opens the fixture on the given store, or on SQLite in memory. */
export const openScheduleFixture = async (settings: Partial<JobSettings> = {}, given?: Store) =>
  withSchedules(await openJobFixture(settings, given));

/** Returns a fixture with schedules. */
export function withSchedules(fixture: JobFixture): ScheduleFixture {
  const { context, clock } = fixture;
  const { store } = context;
  const createKey: ScheduleFixture['createKey'] = async (userId, key = {}) => {
    const stored = aKey({ userId, createdAt: clock.now(), ...key });
    await store.apiKeys.insert(stored);
    return stored.id;
  };
  return {
    ...fixture,
    async createCaller(credits, key = {}) {
      const userId = await fixture.createUser(credits);
      return { role: 'user', userId, keyId: await createKey(userId, key), mode: 'live' };
    },
    createKey,
    create: (caller, fields = {}, idempotencyKey) =>
      createSchedule(
        context,
        caller,
        {
          name: 'Prices',
          market: 'mkta',
          kind: 'get_pc_bulk',
          request: csvRequest(),
          cron: '* * * * *',
          timeZone: 'UTC',
          startAt: null,
          endAt: null,
          maxTotalCredits: null,
          overlap: 'skip',
          missed: 'run_once',
          options: {},
          ...fields,
        },
        idempotencyKey,
      ),
    get: async (id) => (await store.schedules.get(id))!,
    async approve(id) {
      const { openRuns } = (await store.schedules.get(id))!;
      return approve(context, openRuns.at(-1)!.jobId, 'operator-1');
    },
    runs: async (id) =>
      (await store.scheduleRuns.list({ scheduleId: id }, { limit: 100 })).items.reverse(),
    async tick(ms) {
      await clock.advance(ms);
      await runDueSchedules(context);
    },
    async endJob(jobId, state = 'completed', refunded = 0) {
      const job = (await store.jobs.get(jobId!))!;
      const at = clock.now();
      await store.jobs.move(job.id, [job.state], state, at, { finishedAt: at, refunded });
    },
  };
}
