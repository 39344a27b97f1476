import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { MongoClient } from 'mongodb';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { findMongo } from '../../test/engines/mongo.ts';
import { type Config, ConfigError, loadConfig } from '../base/config.ts';
import { IncompleteMoveError, NewerDataError } from '../base/data-refused-error.ts';
import { newId } from '../base/id.ts';
import { openFiles } from '../blobs/files/open.ts';
import { lockData } from '../stack/data-folder.ts';
import { listAuditEntries } from '../store/audit-log.ts';
import { findUnit, firstWait } from '../store/batch-store.ts';
import { updateClaim } from '../store/claims.ts';
import {
  aChange,
  anItem,
  anObservation,
  aRule,
  aRun,
} from '../store/conformance/history-samples.ts';
import {
  aDeletedJob,
  aDelivery,
  aDestination,
  aKey,
  anEntry,
  aSegment,
  aSuccess,
  aTime,
  aUser,
  storeJob,
} from '../store/conformance/samples.ts';
import { aSchedule, aRun as aScheduleRun } from '../store/conformance/schedules.ts';
import { collect } from '../store/conformance/stores.ts';
import { addObservations, listChanges, listObservations } from '../store/history.ts';
import { contentTargets, omittedCollections } from '../store/mongo/import.ts';
import { openMongoStore } from '../store/mongo/open.ts';
import { collectionsOf } from '../store/mongo/schema.ts';
import { createSession, findSession } from '../store/sessions.ts';
import { openSqliteStore } from '../store/sqlite/open.ts';
import type { Store } from '../store/store.ts';
import { claimSubmission, nextNumber, unanswered } from '../store/submissions.ts';
import { moveData } from './move.ts';

const mongo = await findMongo();

describe.skipIf('missing' in mongo)(
  `moveData()${'missing' in mongo ? ` (${mongo.missing})` : ''}`,
  () => {
    if ('missing' in mongo) return;
    afterAll(() => mongo.stop());

    let folder: string;
    let source: string;
    let config: Config;
    let client: MongoClient;
    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), 'gleaner-move-'));
      source = join(folder, 'source');
      const MONGODB_URI = mongo.fresh();
      config = loadConfig({
        GLEANER_DATA_DIR: join(folder, 'target'),
        MONGODB_URI,
        NATS_URL: 'nats://127.0.0.1:1',
      });
      client = new MongoClient(MONGODB_URI);
      return async () => {
        await client.close();
        rmSync(folder, { recursive: true });
      };
    });

    const inSource = async <T>(use: (store: Store) => Promise<T>): Promise<T> => {
      const store = openSqliteStore({ path: join(source, 'gleaner.db') });
      return use(store).finally(() => store.close());
    };
    const inTarget = async <T>(use: (store: Store) => Promise<T>): Promise<T> => {
      const store = openMongoStore({ uri: config.mongoUri! });
      return use(store).finally(() => store.close());
    };

    /** Stores documents of every kind, and a file. */
    const storeEverything = () =>
      inSource(async (store) => {
        const user = aUser();
        const key = aKey({ userId: user.id, lastUsedAt: aTime });
        await store.users.insert(user);
        await store.apiKeys.insert(key);
        const session = {
          hash: newId(),
          userId: user.id,
          keyId: key.id,
          createdAt: aTime,
          expiresAt: aTime * 2,
        };
        await createSession(store, session, 5);
        await store.auditLog.insert({
          id: newId(),
          createdAt: aTime,
          actorId: user.id,
          role: 'user',
          keyId: key.id,
          action: 'SubmitJob',
          target: 'x',
          source: '127.0.0.1',
          outcome: 'ok',
          detail: '{}',
        });
        await store.ledger.post(anEntry(user.id, 500));
        const voided = `charge:${newId()}`;
        await store.ledger.voidKey(voided, user.id, aTime);
        const number = await nextNumber(store, 'tasks');
        const params = { 'a.b': { $c: ['☃'] } };
        const { job, batches } = await storeJob(store, 3, { userId: user.id, number, params });
        await store.batches.queue(job.id, 2, aTime);
        const claimed = (await store.batches.claim(batches[0]!, 0, aTime, aTime + 1_000))!;
        const path = `${job.id}/segment_0`;
        const blobs = openFiles({ directory: join(source, 'results') });
        const written = async function* () {
          yield 'records';
        };
        const { sha256 } = await blobs.write(path, 'text/plain', written(), () => 1);
        await blobs.close();
        await store.batches.recordOutcomes(claimed, 1, {
          outcomes: { 0: aSuccess(1) },
          segment: { ...aSegment(path, 0), sha256 },
        });
        const submission = {
          userId: user.id,
          idempotencyKey: 'k',
          bodyHash: 'h',
          jobId: job.id,
          createdAt: aTime,
        };
        await claimSubmission(store, { ...submission, interrupted: true, response: null }, 0);
        await store.submissions.update(unanswered(submission), { response: '{}' });
        const origin = 'https://shop.example';
        await store.origins.reserve(origin, 2, 100, aTime);
        const pause = {
          until: aTime + 5,
          reason: 'blocked',
          failures: 2,
          since: aTime,
          probing: true,
        };
        await store.origins.putPause(origin, { revision: 1, ...pause });
        const wait = {
          since: aTime,
          until: aTime + 9,
          reason: 'blocked',
          tries: { 1: 2 },
          failures: 1,
        };
        await updateClaim(store, { ...claimed, attempt: 1 }, { wait });
        await store.crawls.upsert([{ key: 'page', at: aTime, body: new Uint8Array([0, 255, 7]) }]);
        await store.pagePlaces.writeAll([{ id: 'j/1', path: 'j/pages_1', offset: 0, length: 9 }]);
        await store.fileRemovals.upsert([{ jobId: 'j', deletedAt: 1, dueAt: 2 }]);
        await store.drift.put({ market: 'mkta', page: 'item', revision: 1, state: '{"n":1}' });
        const counts = { requests: 3, refused: 1, failed: 0, milliseconds: 12.5 };
        await store.originMinutes.accumulate([
          { origin, market: 'mkta', region: 'id', minute: aTime, ...counts },
        ]);
        const secrets = { secret: 'whsec_a', previousSecret: null, previousUntil: null };
        const url = 'https://user.example';
        await store.webhooks.put({
          userId: user.id,
          url,
          enabled: true,
          ...secrets,
          updatedAt: aTime,
          revision: 1,
        });
        await store.deliveries.insert(
          aDelivery({ userId: user.id, jobId: job.id, nextAttemptAt: aTime }),
        );
        await store.destinations.insert(aDestination({ userId: user.id }));
        const { id: jobId, userId } = job;
        const observation = anObservation({ userId, jobId, region: '', key: 'a/b' });
        const item = anItem({ userId, series: 'daily' });
        await store.trackingRuns.insert({ ...aRun({ userId, jobId }), activeUser: null });
        await store.trackedItems.upsert([item]);
        await store.itemUnits.insert({ userId, unit: 'a-unit', itemId: item.id });
        await addObservations(store, [{ observation, previous: null }]);
        await store.itemChanges.writeAll([aChange(jobId, 1)]);
        await store.rules.insert(aRule({ userId }));
        const schedule = aSchedule({ userId });
        await store.schedules.insert({ ...schedule, request: '{"items":[]}' });
        await store.scheduleRuns.upsert([aScheduleRun(schedule)]);
        const { job: former } = await storeJob(store, 1, {
          userId: user.id,
          state: 'failed',
          finishedAt: aTime,
          unitPrice: 0,
          cost: 0,
        });
        const deleted = aDeletedJob(former);
        await store.jobs.delete(deleted.id, deleted);
        return {
          user,
          key,
          session,
          voided,
          job,
          number,
          path,
          origin,
          observation,
          item,
          schedule,
        };
      });

    /** Reads the stored documents through the port. */
    const readEverything =
      ({
        user,
        key,
        session,
        voided,
        job,
        number,
        origin,
        observation,
        item,
        schedule,
      }: Awaited<ReturnType<typeof storeEverything>>) =>
      async (store: Store) => {
        const page = { limit: 10, after: null };
        return {
          key: await store.apiKeys.findByHash(key.hash),
          session: await findSession(store, session.hash),
          auditLog: await listAuditEntries(store, {}, page),
          ledger: await store.ledger.list({ userId: user.id }, page),
          isVoid: await store.ledger.isVoid(voided),
          jobs: await store.jobs.list({}, page),
          byNumber: await store.jobs.find({ number }),
          batches: await collect(store.batches.read(job.id)),
          unit: await findUnit(store, job.id, '1/1'),
          pauses: await store.origins.listPauses(),
          wait: await firstWait(store, job.id, 0),
          crawl: Buffer.from(
            (await store.crawls.pick({ key: 'page', at: { atLeast: 0 } }, ['at', 'body']))?.body ??
              [],
          ).toString('hex'),
          drift: await store.drift.find({}),
          originMinutes: await store.originMinutes.find({ minute: { atLeast: 0 } }),
          webhook: await store.webhooks.get(user.id),
          deletedJobs: await store.deletedJobs.list({ userId: user.id }, page),
          deliveries: await store.deliveries.list({}, page),
          destinations: await store.destinations.find({ userId: user.id }),
          run: await store.trackingRuns.get(job.id),
          item: await store.trackedItems.find({ id: { in: [item.id] } }, { order: [] }),
          itemUnits: await store.itemUnits.find({ userId: user.id }),
          observation: await listObservations(store, observation, 0, aTime + 1, page),
          changes: await listChanges(store, job.id, null, page),
          rules: await store.rules.find({ userId: user.id }),
          schedules: await store.schedules.list({}, page),
          request: await store.schedules.pick({ id: schedule.id }, ['request', 'revision']),
          scheduleRuns: await store.scheduleRuns.list({ scheduleId: schedule.id }, page),
          submission: await claimSubmission(
            store,
            {
              userId: user.id,
              idempotencyKey: 'k',
              bodyHash: '',
              jobId: '',
              createdAt: 0,
              interrupted: false,
              response: null,
            },
            0,
          ),
          slot: (await store.origins.reserve(origin, 1, 100, aTime)).first,
          number: await nextNumber(store, 'tasks'),
        };
      };

    test('moves documents of every kind', async () => {
      const stored = await storeEverything();
      const moved = await moveData(config, source);
      const empty = Object.entries(moved.documents).filter(([, count]) => count === 0);
      expect(empty).toEqual([]);
      expect(moved).toMatchObject({
        files: 1,
        bytes: 7,
        lost: [],
        audit: { accounts: 1, jobs: 1, problems: [] },
      });
      const read = readEverything(stored);
      expect(await inTarget(read)).toEqual(await inSource(read));
      expect(readFileSync(join(folder, 'target/results', stored.path), 'utf8')).toBe('records');
    });

    test.each<Config['linkSecrets']>([null, ['a secret of the tests that is long enough']])(
      'moves the generated secrets, unless the target has its own: configured %s',
      async (linkSecrets) => {
        await inSource(async (store) => store.ping());
        const target = join(config.dataDir, 'secrets.txt');
        writeFileSync(join(source, 'secrets.txt'), 'of the source');
        await moveData({ ...config, linkSecrets }, source);
        expect(readFileSync(target, 'utf8')).toBe('of the source');
      },
    );

    test('has a target for every collection, except for the listed ones', () => {
      const targets = Object.values(contentTargets).map(({ collection }) => collection);
      const known = [...new Set([...targets, ...Object.keys(omittedCollections)])];
      expect(known.toSorted()).toEqual(Object.keys(collectionsOf(client.db())).toSorted());
    });

    test.each(['begin', 'file', 'users', 'batches', 'deliveries', 'verified'])(
      'leaves a database that is refused if it ends after %s, and continues when it is repeated',
      async (last) => {
        const stored = await storeEverything();
        const killed = moveData(config, source, (step) => {
          if (step === last) throw new Error('killed');
        });
        await expect(killed).rejects.toThrow('killed');
        await expect(inTarget((store) => store.users.get(stored.user.id))).rejects.toThrow(
          IncompleteMoveError,
        );
        await expect(inTarget((store) => store.ping())).rejects.toThrow(
          `contains an incomplete move of ${source}: repeat 'gleaner move ${source}', or drop the database`,
        );
        // The source may have continued meanwhile.
        const late = aUser();
        await inSource((store) => store.users.insert(late));
        expect(await moveData(config, source)).toMatchObject({ files: 1, documents: { users: 2 } });
        expect(await inTarget((store) => store.users.get(late.id))).toEqual(late);
      },
    );

    test('refuses a running source, a source without data, and the embedded stack', async () => {
      await storeEverything();
      const unlock = await lockData(loadConfig({ GLEANER_DATA_DIR: source }));
      await expect(moveData(config, source)).rejects.toThrow(
        / is in use by process \d+\. Stop that process: the data must not change while they are copied\.$/,
      );
      unlock();
      await expect(moveData(config, join(folder, 'nothing'))).rejects.toThrow(
        /^No Gleaner data in .*nothing. Name the data folder/,
      );
      await expect(moveData(loadConfig({}), source)).rejects.toThrow(ConfigError);
    });

    test('refuses a newer source, a target with data, and the target of another move', async () => {
      await storeEverything();
      await inTarget((store) => store.users.insert(aUser()));
      const refused = moveData(config, source);
      await expect(refused).rejects.toThrow(/ is not empty: it has documents in users\. /);
      await expect(refused).rejects.toThrow(ConfigError);
      await client.db().dropDatabase();
      await expect(
        moveData(config, source, () => {
          throw new Error('killed');
        }),
      ).rejects.toThrow('killed');
      const other = join(folder, 'other');
      cpSync(source, other, { recursive: true });
      await expect(moveData(config, other)).rejects.toThrow(
        `contains an incomplete move of ${source}. Repeat that move, or choose another database.`,
      );
      const database = new DatabaseSync(join(source, 'gleaner.db'));
      database.exec('PRAGMA user_version = 99');
      database.close();
      await expect(moveData(config, source)).rejects.toThrow(NewerDataError);
    });

    test('fails if another process writes to the target', async () => {
      await storeEverything();
      const moving = moveData(config, source, async (step) => {
        if (step === 'users') await client.db().collection('users').insertOne({ name: 'other' });
      });
      await expect(moving).rejects.toThrow(
        /: the collection users has 2 documents instead of 1\. Stop every process/,
      );
    });

    test('reports files that the source has lost, and verifies files in place', async () => {
      const { path } = await storeEverything();
      const inPlace = { ...config, dataDir: source };
      expect(await moveData(inPlace, source)).toMatchObject({ files: 1, lost: [] });
      await client.db().dropDatabase();
      rmSync(join(source, 'results', path));
      expect(await moveData(config, source)).toMatchObject({ files: 0, lost: [path] });
    });
  },
);
