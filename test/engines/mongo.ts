import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { MongoClient } from 'mongodb';
import { slack } from '../support/time/until.ts';
import { engineCache, findEngine, findProgram, type MissingEngine } from './missing.ts';
import { type RunningProgram, startProgram } from './program.ts';
import { isRun, shareEngine } from './share.ts';

/** A running MongoDB engine. */
export interface FoundMongo {
  /** Connection string of a new database. */
  readonly uri: string;
  /** Returns the connection string of another new database. */
  fresh(): string;
  /** Drops the databases, or stops an engine that startMongo() started. */
  stop(): Promise<void>;
}

/** A MongoDB engine started by startMongo(). */
export interface RunningMongo extends FoundMongo, RunningProgram {
  readonly port: number;
}

/** Options for startMongo(). */
export interface MongoOptions {
  /** File for the data of an engine that will be restarted. By default the data is in memory. */
  dataFile?: string;
  /** By default a free port. */
  port?: number;
  /** File with the seconds by which the time of an engine in memory is ahead. */
  clockFile?: string;
}

const project = fileURLToPath(new URL('pom.xml', import.meta.url));
const launcher = fileURLToPath(new URL('MongoServer.java', import.meta.url));
const jars = join(engineCache, 'mongo-java-server-1.47.0');

/**
 * Returns the engine for a test file: the one at MONGODB_TEST_URI, otherwise the one that the test
 * files of a run share, outside of a run a new one, or the reason for skipping the tests. Throws
 * that reason if CI is set.
 */
export async function findMongo(): Promise<FoundMongo | MissingEngine> {
  const given = process.env.MONGODB_TEST_URI;
  if (given) return givenMongo(given);
  if (!isRun()) return findEngine(startMongo());
  const shared = await shareEngine('mongo');
  return 'missing' in shared ? shared : givenMongo(shared.address);
}

/**
 * Starts mongo-java-server, a test engine, on 127.0.0.1. It ends with this process. Its jars are
 * downloaded once from Maven Central. With a data file, acknowledged writes survive `stop`; `kill`
 * may lose writes of the last 20 milliseconds.
 */
export async function startMongo(
  options: MongoOptions = {},
): Promise<RunningMongo | MissingEngine> {
  const java = findProgram('java');
  const javac = findProgram('javac');
  if (!java || !javac) {
    return {
      missing:
        'the MongoDB test engine needs a JDK, 17 or newer (Debian: apt-get install default-jdk-headless)',
    };
  }
  const missing = await downloadJars();
  if (missing) return { missing };
  const compiled = await compileLauncher(javac);
  const clock = options.clockFile === undefined ? [] : [`-D${clockProperty}=${options.clockFile}`];
  const rest = options.dataFile === undefined ? [] : [options.dataFile];
  const program = await startProgram(
    java,
    [
      ...quickStart,
      ...clock,
      '-cp',
      classPath(compiled),
      'MongoServer',
      `${options.port ?? 0}`,
      ...rest,
    ],
    (line) => (/^\d+$/.test(line) ? Number(line) : null),
  );
  const base = `mongodb://127.0.0.1:${program.readyValue}/`;
  // Other suites may leave the server without a processor for seconds.
  const timeouts = new URLSearchParams({
    serverSelectionTimeoutMS: `${slowTimeoutMs}`,
    connectTimeoutMS: `${slowTimeoutMs}`,
  });
  const fresh = () => `${withDatabase(base)}?${timeouts}`;
  return { ...program, port: program.readyValue, uri: withDatabase(base), fresh };
}

/** Time in which a server that nobody stops responds, in milliseconds. */
const slowTimeoutMs = 3_000 * slack;

/** Property of the launcher that names the file of its clock. */
const clockProperty = 'clock';

/** Options of a JVM that runs for seconds. */
const quickStart = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'];

const classPath = (folder: string) => [join(jars, '*'), folder].join(delimiter);

/** Compiles the launcher unless that is done, and returns the folder of its classes. */
async function compileLauncher(javac: string): Promise<string> {
  const version = createHash('sha256')
    .update(await readFile(launcher))
    .digest('hex')
    .slice(0, 12);
  const compiled = join(engineCache, `mongo-server-${version}`);
  if (existsSync(compiled)) return compiled;
  await promisify(execFile)(javac, [
    '-cp',
    classPath(compiled),
    '-d',
    `${compiled}-${process.pid}`,
    launcher,
  ]);
  // Another process may have compiled it at the same time.
  await rename(`${compiled}-${process.pid}`, compiled).catch(async (error) => {
    await rm(`${compiled}-${process.pid}`, { recursive: true, force: true });
    if (!existsSync(compiled)) throw error;
  });
  return compiled;
}

/** Downloads the engine's jars unless they are cached. Returns the reason if that fails. */
async function downloadJars(): Promise<string | undefined> {
  if (existsSync(jars)) return undefined;
  const maven = findProgram('mvn');
  if (!maven) return 'the MongoDB test engine needs Maven (Debian: apt-get install maven)';
  await mkdir(engineCache, { recursive: true });
  // Downloads to a temporary folder first, because test files start concurrently.
  const folder = await mkdtemp(join(engineCache, 'download-'));
  try {
    const goal = ['dependency:copy-dependencies', `-DoutputDirectory=${folder}`];
    await promisify(execFile)(maven, ['-q', '-B', '-f', project, ...goal]);
    await rename(folder, jars).catch((error) => {
      if (!existsSync(jars)) throw error;
    });
    return undefined;
  } catch (error) {
    const { stdout, message } = error as Error & { stdout?: string };
    return `Maven could not download the MongoDB test engine: ${(stdout || message).trim().split('\n')[0]}`;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Uses a running engine. `stop` drops the databases created on it. */
function givenMongo(given: string): FoundMongo {
  const created: string[] = [];
  const fresh = () => {
    const uri = withDatabase(given);
    created.push(uri);
    return uri;
  };
  return {
    uri: fresh(),
    fresh,
    stop: async () => {
      const client = new MongoClient(given);
      for (const uri of created) await client.db(new URL(uri).pathname.slice(1)).dropDatabase();
      await client.close();
    },
  };
}

function withDatabase(base: string): string {
  const uri = new URL(base);
  uri.pathname = `/gleaner_${randomBytes(6).toString('hex')}`;
  return uri.href;
}
