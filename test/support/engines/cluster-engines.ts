import { join } from 'node:path';
import { findEngine, type MissingEngine } from '../../engines/missing.ts';
import { findMongo, startMongo } from '../../engines/mongo.ts';
import { findMongod, initiateReplicaSet, startMongod } from '../../engines/mongod.ts';
import { natsMembers, startNats } from '../../engines/nats.ts';
import { startS3 } from '../../engines/s3.ts';
import { startLink } from '../faults/link.ts';
import type { Engines, Stack } from './engines.ts';
import { type FaultyProcess, startOwn } from './restartable.ts';

/** Servers of one engine. */
interface EngineServers {
  settings: Record<string, string>;
  servers: FaultyProcess[];
  stop(): Promise<void>;
}

const clusterSize = 3;

/** Clusters of engines. Each server can be killed and frozen. */
export const clusterStack: Stack = { name: 'cluster', distributed: true, open: openClusterEngines };

/**
 * Opens the engines of a deployment without a single point of failure, as far as they are
 * installed: three NATS servers with a replicated stream, MongoDB, and S3. MongoDB is the one at
 * MONGODB_TEST_URI, otherwise a replica set of mongod, otherwise the test engine.
 */
async function openClusterEngines(): Promise<Engines | MissingEngine> {
  const opened: EngineServers[] = [];
  const stop = async () => {
    await Promise.all(opened.map((engine) => engine.stop()));
  };
  for (const open of [openNatsCluster, openClusterMongo, openS3]) {
    const engine = await findEngine(open());
    if ('missing' in engine) {
      await stop();
      return engine;
    }
    opened.push(engine);
  }
  return {
    settings: Object.assign({}, ...opened.map(({ settings }) => settings)),
    mongo: null,
    nats: null,
    servers: opened.flatMap(({ servers }) => servers),
    stop,
  };
}

async function openNatsCluster(): Promise<EngineServers | MissingEngine> {
  const members = await natsMembers(clusterSize);
  const starting = members.map((member) =>
    startOwn(`nats-${member.name}`, (place) => startNats({ ...place, member })),
  );
  return serversOf(await Promise.all(starting), async (servers) => ({
    NATS_URL: servers.map(({ url }) => url).join(','),
    GLEANER_TEST_LIMITS: `{"natsReplicas": ${clusterSize}}`,
  }));
}

async function openS3(): Promise<EngineServers | MissingEngine> {
  return serversOf([await startOwn('s3', startS3)], async ([server]) => ({
    GLEANER_S3_URL: server!.url,
  }));
}

async function openClusterMongo(): Promise<EngineServers | MissingEngine> {
  if (process.env.MONGODB_TEST_URI) return openGivenMongo();
  const program = findMongod();
  if (program !== null) {
    const names = Array.from({ length: clusterSize }, (_, index) => `mongod-${index}`);
    const starting = names.map((name) => startOwn(name, (place) => startMongod(program, place)));
    return serversOf(await Promise.all(starting), async (servers) => ({
      MONGODB_URI: await initiateReplicaSet(servers.map(({ port }) => port)),
    }));
  }
  const own = await startOwn('mongo', ({ directory, port }) =>
    startMongo({ dataFile: join(directory, 'data'), port }),
  );
  if ('missing' in own) return own;
  // The test engine loses acknowledged writes when it is killed.
  const server = { ...own.process, kill: own.engine.stop };
  return { settings: { MONGODB_URI: own.first.uri }, servers: [server], stop: own.stop };
}

/**
 * Reaches a MongoDB that this process did not start through a proxy, whose faults look like the
 * server's.
 */
async function openGivenMongo(): Promise<EngineServers | MissingEngine> {
  const found = await findMongo();
  if ('missing' in found) return found;
  const url = new URL(found.uri);
  const link = await startLink(Number(url.port));
  url.port = String(link.port);
  const server: FaultyProcess = {
    name: 'mongo (its connections)',
    running: () => true,
    launch: link.heal,
    kill: async () => link.cut(),
    freeze: link.silence,
    resume: link.heal,
    log: () => '',
  };
  const stop = () => link.stop().then(() => found.stop());
  return { settings: { MONGODB_URI: url.href }, servers: [server], stop };
}

type Own<T> = { first: T; process: FaultyProcess; stop(): Promise<void> };

/** Combines the servers of an engine. Stops them all if one is missing. */
async function serversOf<T>(
  started: readonly (Own<T> | MissingEngine)[],
  settingsOf: (servers: T[]) => Promise<Record<string, string>>,
): Promise<EngineServers | MissingEngine> {
  const running = started.filter((each): each is Own<T> => !('missing' in each));
  const stop = async () => {
    await Promise.all(running.map((each) => each.stop()));
  };
  const missing = started.find((each): each is MissingEngine => 'missing' in each);
  if (missing) {
    await stop();
    return missing;
  }
  const settings = await settingsOf(running.map(({ first }) => first));
  return { settings, servers: running.map((each) => each.process), stop };
}
