import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../support/servers/ports.ts';
import { findProgram, type MissingEngine } from './missing.ts';
import { startMongo } from './mongo.ts';
import { startNats } from './nats.ts';
import { startProgram } from './program.ts';

/** An engine for trying the distributed stack. */
interface TrialEngine {
  url: string;
  /** Description to print. */
  about: string;
  stop(): Promise<void>;
}

const folder = await mkdtemp(join(tmpdir(), 'gleaner-engines-'));

/** Starts mongod from PATH, in a container, or the test engine, in that order of preference. */
async function mongo(): Promise<TrialEngine | MissingEngine> {
  const program = findProgram('mongod');
  const port = await freePort();
  const url = `mongodb://127.0.0.1:${port}/gleaner`;
  const isReady = (line: string) => (/waiting for connections/i.test(line) ? true : null);
  if (program !== null) {
    const server = await startProgram(
      program,
      ['--dbpath', folder, '--bind_ip', '127.0.0.1', '--port', `${port}`],
      isReady,
    );
    return { url, about: 'mongod', stop: server.stop };
  }
  const container = await inContainer(port, 27017, ['mongo:8'], isReady);
  if (container) return { url, about: 'mongod in a container', stop: container.stop };
  const test = await startMongo();
  if ('missing' in test)
    return { missing: `no mongod on PATH, no containers, and ${test.missing}` };
  return {
    url: test.uri,
    about: 'mongo-java-server, a test engine that keeps its data in memory',
    stop: test.stop,
  };
}

async function nats(): Promise<TrialEngine | MissingEngine> {
  const server = await startNats({ directory: join(folder, 'jetstream') });
  if (!('missing' in server)) return { url: server.url, about: 'nats-server', stop: server.stop };
  const port = await freePort();
  const ready = (line: string) => (line.includes('Server is ready') ? true : null);
  const container = await inContainer(port, 4222, ['nats:2', '-js'], ready);
  if (container)
    return {
      url: `nats://127.0.0.1:${port}`,
      about: 'nats-server in a container',
      stop: container.stop,
    };
  return { missing: `${server.missing}, and no containers can be run` };
}

/** Runs a container image. Returns null if that is not possible. */
async function inContainer(
  port: number,
  inside: number,
  image: string[],
  ready: (line: string) => true | null,
) {
  const docker = findProgram('docker');
  if (docker === null) return null;
  try {
    return await startProgram(
      docker,
      ['run', '--rm', '-p', `127.0.0.1:${port}:${inside}`, ...image],
      ready,
    );
  } catch {
    return null;
  }
}

/**
 * Starts both engines, prints their addresses as a line of JSON, and runs until standard input ends
 * or a signal arrives. Then stops the engines and removes their data.
 */
async function main(): Promise<number> {
  const engines = await Promise.all([mongo(), nats()]);
  const started = engines.filter((engine): engine is TrialEngine => !('missing' in engine));
  const stop = async () => {
    await Promise.all(started.map((engine) => engine.stop()));
    await rm(folder, { recursive: true, force: true });
  };
  const [store, queue] = engines;
  if (!store || !queue || 'missing' in store || 'missing' in queue) {
    for (const engine of engines)
      if ('missing' in engine) console.error(`Missing: ${engine.missing}`);
    await stop();
    return 1;
  }
  console.log(
    JSON.stringify({
      mongoUri: store.url,
      natsUrl: queue.url,
      about: `${store.about}; ${queue.about}`,
    }),
  );
  await new Promise<void>((resolve) => {
    process.stdin.resume().once('end', resolve).once('close', resolve);
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, resolve);
  });
  await stop();
  return 0;
}

process.exit(await main());
