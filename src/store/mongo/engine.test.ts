import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { mkdtemp, rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { MongoServerError } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findMongo, startMongo } from '../../../test/engines/mongo.ts';
import { startLink } from '../../../test/support/faults/link.ts';
import type { Fault } from '../../contract/fault.ts';
import { anItem, anObservation } from '../conformance/history-samples.ts';
import { aBatch, aJob, aKey, aTime, aUser } from '../conformance/samples.ts';
import { deadlockCode, isDeadlock } from './duplicates.ts';
import { openEngine } from './engine.ts';
import { openMongoStore } from './open.ts';

const mongo = await findMongo();
const local = await startMongo();

describe.skipIf('missing' in mongo)(
  `MongoDB database${'missing' in mongo ? ` (${mongo.missing})` : ''}`,
  () => {
    if ('missing' in mongo) return;
    afterAll(() => mongo.stop());

    test('stores opened concurrently on an empty database create their indexes together', async () => {
      const uri = mongo.fresh();
      const stores = Array.from({ length: 4 }, () => openMongoStore({ uri }));
      await Promise.all(stores.map((store) => store.ping()));
      const key = aKey();
      const kept = await Promise.all(
        stores.map((store) => store.apiKeys.insert(aKey({ hash: key.hash }))),
      );
      expect(kept.filter((created) => created)).toHaveLength(1);
      await Promise.all(stores.map((store) => store.close()));
    });

    test('accepts one of concurrent inserts of a unique value, and reports a duplicate to the others', async () => {
      const store = openMongoStore({ uri: mongo.fresh() });
      for (let round = 0; round < 3; round++) {
        const { hash } = aKey();
        const inserts = Array.from({ length: 4 }, () => store.apiKeys.insert(aKey({ hash })));
        expect((await Promise.all(inserts)).filter((created) => created)).toHaveLength(1);
      }
      await store.close();
    });

    test('a connection lost during a command is unavailable, an error of the caller is not', async () => {
      const engine = openEngine(mongo.fresh());
      const meets = (error: Error) => engine.run(() => Promise.reject(error));
      const ended = Object.assign(new Error('This socket has been ended by the other party'), {
        code: 'EPIPE',
      });
      await expect(meets(ended)).rejects.toMatchObject({
        code: 'unavailable',
        clientMessage: 'The store is unavailable.',
        message: expect.stringMatching(
          /^MongoDB at .* does not answer: This socket has been ended/,
        ),
      });
      await expect(meets(new TypeError('x is not a function'))).rejects.toMatchObject({
        code: 'internal',
      });
      await engine.close();
    });

    test('a deadlock of an engine on PostgreSQL is unavailable, also if its code is that of an internal error', async () => {
      const engine = openEngine(mongo.fresh());
      for (const code of [deadlockCode, 1]) {
        const deadlock = new MongoServerError({ code, message: 'deadlock detected' });
        expect(isDeadlock(deadlock)).toBe(true);
        await expect(engine.run(() => Promise.reject(deadlock))).rejects.toMatchObject({
          code: 'unavailable',
        });
      }
      expect(isDeadlock(new MongoServerError({ code: 1, message: 'out of memory' }))).toBe(false);
      await engine.close();
    });

    test('an error of the server is unavailable, unless it meets the command each time', async () => {
      const engine = openEngine(mongo.fresh());
      const codeOf = (code: number) =>
        engine
          .run(() => Promise.reject(new MongoServerError({ code, message: 'x' })))
          .catch((thrown: Fault) => thrown.code);
      const codes = Array.from({ length: 20_000 }, (_, code) => code);
      const faults = await Promise.all(codes.map(codeOf));
      expect(new Set(faults)).toEqual(new Set(['unavailable', 'internal']));
      expect(codes.filter((code) => faults[code] === 'internal')).toEqual([
        10_334, 11_000, 17_280, 17_419, 17_420,
      ]);
      await engine.close();
    });

    test.concurrent('reconnects after connections that closed at the moment of a heartbeat', async () => {
      const url = new URL(mongo.fresh());
      const link = await startLink(Number(url.port));
      url.port = String(link.port);
      // Without a minimum, the failed command checks the server immediately.
      url.searchParams.set('minHeartbeatFrequencyMS', '1');
      const sockets: Socket[] = [];
      const collect = (message: unknown) => sockets.push((message as { socket: Socket }).socket);
      subscribe('net.client.socket', collect);
      const engine = openEngine(url.href);
      await engine.ping();
      unsubscribe('net.client.socket', collect);
      link.silence();
      const waiting = engine.ping();
      for (let turn = 0; turn < 10; turn++) await setImmediate();
      // The last one closes first, and its command then asks for a heartbeat on a connection that
      // is about to close.
      for (const socket of sockets.filter(({ remotePort }) => remotePort === link.port))
        socket.destroy();
      link.heal();
      await expect(waiting).rejects.toMatchObject({ code: 'unavailable' });
      await engine.ping().catch(() => {});
      await engine.ping();
      await engine.close();
      await link.stop();
    });

    test.concurrent('a command that the driver loses is unavailable soon after others fail', async () => {
      const limits = { maxMs: 60_000, endMs: 2_000 };
      const url = new URL(mongo.fresh());
      const link = await startLink(Number(url.port));
      url.port = String(link.port);
      const engine = openEngine(url.href, undefined, { limits });
      await engine.ping();
      const lost = engine.run(() => new Promise<never>(() => {}));
      lost.catch(() => {});
      link.silence();
      const failing = engine.ping();
      for (let turn = 0; turn < 10; turn++) await setImmediate();
      link.cut();
      await expect(failing).rejects.toMatchObject({ code: 'unavailable' });
      link.heal();
      await expect(lost).rejects.toMatchObject({
        code: 'unavailable',
        message: expect.stringMatching(/does not answer: a command did not end$/),
      });
      await engine.ping();
      await engine.close();
      await link.stop();
    });

    test.concurrent('a bulk write whose connection is lost is unavailable, and writes all when it is repeated', async () => {
      const url = new URL(mongo.fresh());
      const link = await startLink(Number(url.port));
      url.port = String(link.port);
      const store = openMongoStore({ uri: url.href });
      const observation = anObservation();
      const item = anItem();
      const job = aJob();
      const writes: [string, () => Promise<unknown>][] = [
        ['writeAll', () => store.observations.writeAll([observation])],
        ['upsert', () => store.trackedItems.upsert([item])],
        ['a job', () => store.jobs.create(job, [aBatch(job, 0)])],
      ];
      for (const [name, write] of writes) {
        await store.ping();
        link.silence();
        const lost = write();
        for (let turn = 0; turn < 10; turn++) await setImmediate();
        link.cut();
        await expect(lost, name).rejects.toMatchObject({ code: 'unavailable' });
        link.heal();
        await write();
      }
      const { userId, market, region, key, at, jobId } = observation;
      expect(await store.observations.get(userId, market, region, key, at, jobId)).toEqual(
        observation,
      );
      expect(await store.trackedItems.get(item.id)).toEqual(item);
      expect(await store.jobs.get(job.id)).toMatchObject({ id: job.id });

      url.searchParams.set('serverSelectionTimeoutMS', '1000');
      const impatient = openMongoStore({ uri: url.href });
      await impatient.ping();
      link.cut();
      await expect(impatient.ping()).rejects.toMatchObject({ code: 'unavailable' });
      // No server is found.
      await expect(impatient.observations.writeAll([observation])).rejects.toMatchObject({
        code: 'unavailable',
      });
      await Promise.all([store.close(), impatient.close()]);
      await link.stop();
    });

    test('a command that meets a socket at the moment when it closes is unavailable', async () => {
      const url = new URL(mongo.fresh());
      const sockets: Socket[] = [];
      const collect = (message: unknown) => sockets.push((message as { socket: Socket }).socket);
      subscribe('net.client.socket', collect);
      const limits = { maxMs: 8_000, endMs: 2_000 };
      const engine = openEngine(url.href, undefined, { limits });
      await engine.ping();
      unsubscribe('net.client.socket', collect);
      // The driver learns of it after its command, all of whose steps are microtasks.
      for (const socket of sockets.filter(({ remotePort }) => remotePort === Number(url.port)))
        socket.destroy();
      await expect(engine.ping()).rejects.toMatchObject({
        message: expect.stringMatching(/does not answer: a command did not end$/),
      });
      await engine.ping();
      await engine.close();
    });

    test('reads and writes use majority concern', async () => {
      const engine = openEngine(`${mongo.fresh()}?retryWrites=false`);
      const pinned = await engine.run(async ({ users }) => ({
        from: users.readPreference?.mode,
        level: users.readConcern?.level,
        write: users.writeConcern,
      }));
      expect(pinned).toMatchObject({
        from: 'primary',
        level: 'majority',
        write: { w: 'majority', journal: true },
      });
      await engine.close();
      const weak = new URL(mongo.fresh());
      weak.searchParams.set('w', '1');
      expect(() => openEngine(weak.href)).toThrow(/^MongoDB address: the option w=1 weakens/);
    });

    test('a closed store is unavailable', async () => {
      const store = openMongoStore({ uri: mongo.fresh() });
      await store.ping();
      await store.close();
      await expect(store.users.get('x')).rejects.toMatchObject({ code: 'unavailable' });
    });
  },
);

test('an invalid connection string is rejected with a reason', () => {
  expect(() => openMongoStore({ uri: 'http://example.org' })).toThrow(/^MongoDB address: /);
});

describe.skipIf('missing' in local)(
  `MongoDB that comes and goes${'missing' in local ? ` (${local.missing})` : ''}`,
  () => {
    if ('missing' in local) return;
    let folder: string;
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'gleaner-mongo-'));
    });
    afterAll(() => rm(folder, { recursive: true, force: true }));

    test('a store opens while it is down, works once it is up, and reconnects after an outage', async () => {
      // Its port was free a moment ago. If another process takes it meanwhile, the start fails
      // loudly.
      const port = Number(new URL(local.uri).port);
      await local.stop();
      const store = openMongoStore({ uri: local.uri });
      const before = performance.now();
      const down = {
        code: 'unavailable',
        clientMessage: 'The store is unavailable.',
        message: expect.stringMatching(/^MongoDB at 127\.0\.0\.1:\d+ does not answer: /),
      };
      await expect(store.ping()).rejects.toMatchObject(down);
      // The driver alone gives up after 30 s.
      expect(performance.now() - before).toBeLessThan(20_000);

      const start = async () => {
        const engine = await startMongo({ port, dataFile: join(folder, 'data') });
        if ('missing' in engine) throw new Error(engine.missing);
        return engine;
      };
      const first = await start();
      const user = aUser();
      expect(await store.users.insert(user)).toBe(true);
      const key = aKey({ userId: user.id, createdAt: aTime });
      await store.apiKeys.insert(key);
      // The indexes, which could not be created at first, exist.
      expect(await store.apiKeys.insert(aKey({ hash: key.hash }))).toBe(false);

      await first.stop();
      await expect(store.users.get(user.id)).rejects.toMatchObject({ code: 'unavailable' });
      const second = await start();
      expect(await store.users.get(user.id)).toEqual(user);
      expect(await store.apiKeys.findByHash(key.hash)).toEqual({ key, user });
      await store.close();
      await second.stop();
    });
  },
);
