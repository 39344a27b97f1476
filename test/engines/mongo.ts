import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { MongoClient } from 'mongodb';

/** A MongoDB engine that answers. */
export interface RunningMongo {
  /** Connection string with a database of its own. */
  uri: string;
  /** Connection string of the same engine with another new database. */
  fresh(): string;
  /** Ends what was started, or drops the databases on an engine that runs anyway. */
  stop(): Promise<void>;
}

/** Why there is no engine: a sentence for people. */
export interface MissingEngine {
  missing: string;
}

/** How to start the engine. */
export interface MongoOptions {
  /** Keeps the data here, for an engine that is to be stopped and started again; absent: in memory. */
  dataFile?: string;
  /** Absent: any free one. */
  port?: number;
}

const here = dirname(fileURLToPath(import.meta.url));
const engines = join(here, '..', '..', '.cache', 'engines');
const jars = join(engines, 'mongo-java-server-1.47.0');

/**
 * The engine for a test file: the one at MONGODB_TEST_URI, else one that is started for it. Where
 * there is none, tests are skipped with the reason; under CI this fails instead.
 */
export async function findMongo(): Promise<RunningMongo | MissingEngine> {
  const given = process.env.MONGODB_TEST_URI;
  const found = given ? givenMongo(given) : await startMongo();
  if ('missing' in found && process.env.CI) throw new Error(found.missing);
  return found;
}

/**
 * Starts mongo-java-server, an engine for tests, as a child process that ends with this one. Its
 * jars come from Maven Central once. With a data file, what was acknowledged is kept over `stop`.
 */
export async function startMongo(options: MongoOptions = {}): Promise<RunningMongo | MissingEngine> {
  const missing = await getJars();
  if (missing) return { missing };
  const source = join(here, 'MongoServer.java');
  const rest = options.dataFile === undefined ? [] : [options.dataFile];
  const child = spawn('java', ['-cp', join(jars, '*'), source, `${options.port ?? 0}`, ...rest], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  // An engine that has died already cannot be told to end.
  child.stdin.on('error', () => {});
  const port = await readPort(child);
  if (typeof port !== 'number') return port;
  const base = `mongodb://127.0.0.1:${port}/`;
  return {
    uri: withDatabase(base),
    fresh: () => withDatabase(base),
    stop: () => ended(child, () => child.stdin.end()),
  };
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/** Waits for the port that the engine prints when it listens. */
async function readPort(child: Child): Promise<number | MissingEngine> {
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-2_000);
  });
  const said = await new Promise<string>((resolve) => {
    child.on('error', (error) => resolve(error.message));
    child.on('close', () => resolve(errors));
    child.stdout.once('data', (text: Buffer) => resolve(text.toString()));
  });
  const port = Number.parseInt(said, 10);
  if (port > 0) return port;
  // No java, one without its compiler, one too old to run a source file or these jars.
  if (/ENOENT|jdk\.compiler|Could not find or load|UnsupportedClassVersion|class file version/.test(said)) {
    return { missing: 'the MongoDB test engine needs a JDK, 17 or newer, on PATH' };
  }
  throw new Error(`the MongoDB test engine did not start: ${said.trim()}`);
}

/** Gets the engine's jars where they are not there yet; gives the reason when that cannot be done. */
async function getJars(): Promise<string | undefined> {
  if (existsSync(jars)) return undefined;
  await mkdir(engines, { recursive: true });
  // Into a folder of our own first: test files start at the same time.
  const folder = await mkdtemp(join(engines, 'download-'));
  const goal = [
    '-q',
    '-B',
    '-f',
    join(here, 'pom.xml'),
    'dependency:copy-dependencies',
    `-DoutputDirectory=${folder}`,
  ];
  try {
    await promisify(execFile)('mvn', goal);
    await rename(folder, jars).catch((error) => {
      if (!existsSync(jars)) throw error;
    });
    return undefined;
  } catch (error) {
    const { code, stdout, message } = error as Error & { code?: string | number; stdout?: string };
    if (code === 'ENOENT')
      return 'the MongoDB test engine is got with Maven: install mvn and a JDK, 17 or newer';
    return `Maven could not get the MongoDB test engine: ${(stdout || message).trim().split('\n')[0]}`;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** An engine that runs anyway; the databases made on it are dropped at `stop`. */
function givenMongo(given: string): RunningMongo {
  const made: string[] = [];
  const fresh = () => {
    const uri = withDatabase(given);
    made.push(uri);
    return uri;
  };
  return {
    uri: fresh(),
    fresh,
    stop: async () => {
      const client = new MongoClient(given);
      for (const uri of made) await client.db(new URL(uri).pathname.slice(1)).dropDatabase();
      await client.close();
    },
  };
}

function withDatabase(base: string): string {
  const uri = new URL(base);
  uri.pathname = `/gleaner_${randomBytes(6).toString('hex')}`;
  return uri.href;
}

function ended(child: Child, end: () => void): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once('exit', () => resolve());
    end();
  });
}
