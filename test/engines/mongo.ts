import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { MongoClient } from 'mongodb';
import { cachedEngines, findEngine, findProgram, type MissingEngine } from './missing.ts';
import { type RunningProgram, startProgram } from './program.ts';

/** A MongoDB engine that answers. */
export interface FoundMongo {
  /** Connection string with a database of its own. */
  readonly uri: string;
  /** Connection string of the same engine with another new database. */
  fresh(): string;
  /** Ends what was started; drops the databases on an engine that runs anyway. */
  stop(): Promise<void>;
}

/** A MongoDB engine that was started here. */
export interface RunningMongo extends FoundMongo, RunningProgram {
  readonly port: number;
}

/** How to start the engine. */
export interface MongoOptions {
  /** Keeps the data here, for an engine that is to be started again; absent: in memory. */
  dataFile?: string;
  /** Absent: any free one. */
  port?: number;
}

const project = fileURLToPath(new URL('pom.xml', import.meta.url));
const launcher = fileURLToPath(new URL('MongoServer.java', import.meta.url));
const jars = join(cachedEngines, 'mongo-java-server-1.47.0');

/**
 * The engine for a test file: the one at MONGODB_TEST_URI, else one that is started for it. Where
 * there is none, tests are skipped with the reason; under CI this fails instead.
 */
export async function findMongo(): Promise<FoundMongo | MissingEngine> {
  const given = process.env.MONGODB_TEST_URI;
  return given ? givenMongo(given) : findEngine(startMongo());
}

/**
 * Starts mongo-java-server, an engine for tests, on 127.0.0.1; it ends with this process. Its jars
 * come from Maven Central once. With a data file, all that was acknowledged outlasts `stop`; `kill`
 * may take the last 20 milliseconds.
 */
export async function startMongo(options: MongoOptions = {}): Promise<RunningMongo | MissingEngine> {
  const java = findProgram('java');
  if (!java || !findProgram('javac')) {
    return {
      missing:
        'the MongoDB test engine needs a JDK, 17 or newer (Debian: apt-get install default-jdk-headless)',
    };
  }
  const missing = await getJars();
  if (missing) return { missing };
  const rest = options.dataFile === undefined ? [] : [options.dataFile];
  const program = await startProgram(
    java,
    ['-cp', join(jars, '*'), launcher, `${options.port ?? 0}`, ...rest],
    (line) => (/^\d+$/.test(line) ? Number(line) : null),
  );
  const base = `mongodb://127.0.0.1:${program.said}/`;
  return { ...program, port: program.said, uri: withDatabase(base), fresh: () => withDatabase(base) };
}

/** Gets the engine's jars where they are not there yet; gives the reason when that cannot be done. */
async function getJars(): Promise<string | undefined> {
  if (existsSync(jars)) return undefined;
  const maven = findProgram('mvn');
  if (!maven) return 'the MongoDB test engine comes by Maven: install it (Debian: apt-get install maven)';
  await mkdir(cachedEngines, { recursive: true });
  // Into a folder of our own first: test files start at the same time.
  const folder = await mkdtemp(join(cachedEngines, 'download-'));
  try {
    const goal = ['dependency:copy-dependencies', `-DoutputDirectory=${folder}`];
    await promisify(execFile)(maven, ['-q', '-B', '-f', project, ...goal]);
    await rename(folder, jars).catch((error) => {
      if (!existsSync(jars)) throw error;
    });
    return undefined;
  } catch (error) {
    const { stdout, message } = error as Error & { stdout?: string };
    return `Maven could not get the MongoDB test engine: ${(stdout || message).trim().split('\n')[0]}`;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** An engine that runs anyway; the databases made on it are dropped at `stop`. */
function givenMongo(given: string): FoundMongo {
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
