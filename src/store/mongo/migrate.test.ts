import { MongoClient } from 'mongodb';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { findMongo } from '../../../test/engines/mongo.ts';
import { createManualClock, flushTasks } from '../../../test/support/time/clock.ts';
import { until } from '../../../test/support/time/until.ts';
import { systemClock } from '../../base/clock.ts';
import { NewerDataError } from '../../base/data-refused-error.ts';
import { aUser } from '../conformance/samples.ts';
import { openEngine } from './engine.ts';
import { type MigrateOptions, type Migration, migrate, migrations } from './migrate.ts';
import { openMongoStore } from './open.ts';

const mongo = await findMongo();

describe.skipIf('missing' in mongo)(
  `migrate()${'missing' in mongo ? ` (${mongo.missing})` : ''}`,
  () => {
    if ('missing' in mongo) return;
    let client: MongoClient;
    let uri: string;
    let nowMs: number;
    beforeEach(async () => {
      uri = mongo.fresh();
      nowMs = 1_000_000;
      client = new MongoClient(uri);
      return () => client.close();
    });
    afterAll(() => mongo.stop());

    const schema = () => client.db().collection<{ _id: string }>('schema');
    const run = (
      holder: string,
      steps: readonly Migration[],
      options: Partial<MigrateOptions> = {},
    ) =>
      migrate(client.db(), {
        address: 'the database',
        steps,
        compatibleFrom: 1,
        holder,
        time: async () => nowMs,
        clock: systemClock,
        ...options,
      });

    test('applies the missing steps in order, once, with several processes at the same time', async () => {
      const applied: string[] = [];
      const step =
        (name: string): Migration =>
        async (database) => {
          applied.push(name);
          await database.collection('notes').countDocuments();
        };
      const first = Array.from({ length: 4 }, (_, at) => run(`p${at}`, [step('a'), step('b')]));
      expect(await Promise.all(first)).toEqual([2, 2, 2, 2]);
      const second = Array.from({ length: 4 }, (_, at) =>
        run(`p${at}`, [step('a'), step('b'), step('c')]),
      );
      expect(await Promise.all(second)).toEqual([3, 3, 3, 3]);
      expect(applied).toEqual(['a', 'b', 'c']);
      expect(await schema().findOne({})).toEqual({
        _id: 'schema',
        version: 3,
        compatibleFrom: 1,
        holder: '',
        leaseUntil: 0,
      });
    });

    test('continues after the last applied step when a step fails', async () => {
      const applied: string[] = [];
      let isBroken = true;
      const steps: Migration[] = [
        async () => void applied.push('a'),
        async () => {
          if (isBroken) throw new Error('the disk is full');
          applied.push('b');
        },
      ];
      await expect(run('one', steps)).rejects.toThrow('the disk is full');
      isBroken = false;
      expect(await run('two', steps)).toBe(2);
      expect(applied).toEqual(['a', 'b']);
    });

    test('takes over from a process that ended during a step, once its lease has expired', async () => {
      await schema().insertOne({
        _id: 'schema',
        version: 0,
        holder: 'dead',
        leaseUntil: nowMs + 1,
      } as never);
      const applied: string[] = [];
      const steps: Migration[] = [async () => void applied.push('a')];
      const clock = createManualClock(0);
      const waiting = run('one', steps, { clock });
      await until('it waits', () => clock.sleepers() === 1 || undefined, { withinMs: 5_000 });
      expect(applied).toEqual([]);
      nowMs += 1;
      await clock.advance(100);
      expect(await waiting).toBe(1);
      expect(applied).toEqual(['a']);
    });

    test('is unavailable while another process migrates for more than 10 seconds', async () => {
      await schema().insertOne({
        _id: 'schema',
        version: 0,
        holder: 'busy',
        leaseUntil: nowMs + 1,
      } as never);
      const clock = createManualClock(0);
      const waiting = run('one', [async () => {}], { clock });
      const failed = expect(waiting).rejects.toMatchObject({
        code: 'unavailable',
        component: 'store',
      });
      for (let waited = 0; waited < 10_000; waited += 100) {
        await until('it waits', () => clock.sleepers() === 1 || undefined, { withinMs: 5_000 });
        await clock.advance(100);
      }
      await failed;
    });

    test('renews the lease while a step runs', async () => {
      const clock = createManualClock(0);
      let end: () => void = () => {};
      const steps: Migration[] = [() => new Promise((resolve) => (end = resolve))];
      const running = run('slow', steps, { clock });
      await until('the step runs', () => clock.sleepers() === 1 || undefined, { withinMs: 5_000 });
      nowMs += 20_000;
      await clock.advance(10_000);
      await until(
        'the lease is renewed',
        async () => (await schema().findOne({ leaseUntil: nowMs + 30_000 })) ?? undefined,
        {
          withinMs: 5_000,
        },
      );
      await flushTasks();
      end();
      expect(await running).toBe(1);
    });

    test('accepts a database of a newer program that declares itself compatible', async () => {
      const step: Migration = async () => {};
      const three = [step, step, step];
      expect(await run('new', three, { compatibleFrom: 2 })).toBe(3);
      expect(await run('old', three.slice(0, 2))).toBe(3);
      await expect(run('older', three.slice(0, 1))).rejects.toThrow(NewerDataError);
      expect(await schema().findOne({})).toMatchObject({ version: 3, compatibleFrom: 2 });
      expect(await run('newest', [...three, step], { compatibleFrom: 4 })).toBe(4);
      await expect(run('new', three)).rejects.toThrow(NewerDataError);
    });

    test('a next version migrates data that this one keeps using, until it replaces what this one reads', async () => {
      const user = aUser();
      const phone =
        (value: string): Migration =>
        async (database) => {
          await database.collection('users').updateMany({}, { $set: { phone: value } });
        };
      const store = openMongoStore({ uri });
      await store.users.insert(user);
      const version = await store.schemaVersion();
      const next = [...migrations, phone('-')];
      expect(await run('next', next, { compatibleFrom: version })).toBe(version + 1);
      expect(await client.db().collection('users').findOne({})).toMatchObject({
        name: user.name,
        phone: '-',
      });
      // Both a process that was running and one that starts now continue.
      const restarted = openMongoStore({ uri });
      for (const each of [store, restarted])
        expect(await each.users.get(user.id)).toMatchObject(user);
      expect(await restarted.schemaVersion()).toBe(version + 1);
      expect(await run('later', [...next, phone('')], { compatibleFrom: version + 2 })).toBe(
        version + 2,
      );
      const refused = openMongoStore({ uri });
      await expect(refused.ping()).rejects.toThrow(NewerDataError);
      await Promise.all([store, restarted, refused].map((each) => each.close()));
    });

    test('refuses a database of a newer program, and changes nothing', async () => {
      await schema().insertOne({ _id: 'schema', version: 99, holder: '', leaseUntil: 0 } as never);
      const store = openMongoStore({ uri });
      const refused = store.ping();
      await expect(refused).rejects.toThrow(NewerDataError);
      await expect(refused).rejects.toThrow(
        /^MongoDB at .* has schema version 99, but this program supports versions up to \d+: install a newer version/,
      );
      await expect(store.users.get('x')).rejects.toThrow(NewerDataError);
      await store.close();
      expect((await client.db().listCollections().toArray()).map(({ name }) => name)).toEqual([
        'schema',
      ]);
    });

    test('runs before the first call of an engine, on a database without a version', async () => {
      await client.db().collection('users').insertOne({ name: 'ann' });
      const seen: string[] = [];
      const engine = openEngine(uri, [
        async (database) => {
          seen.push((await database.collection('users').findOne({}))!.name);
        },
      ]);
      expect(await engine.schemaVersion()).toBe(1);
      await engine.run(async () => {});
      await engine.close();
      expect(seen).toEqual(['ann']);
    });
  },
);
