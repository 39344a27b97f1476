import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { findProgram, type MissingEngine } from './missing.ts';
import { freePort } from './nats.ts';
import { type RunningProgram, startProgram } from './program.ts';

/** An S3-compatible storage that answers. */
export interface RunningS3 extends RunningProgram {
  /** GLEANER_S3_URL of a bucket that is there, with credentials. */
  readonly url: string;
  readonly port: number;
}

/** How to start the storage. */
export interface S3Options {
  /** Where the data is kept, for a storage that is to be started again; absent: a folder of its own that
   *  goes when the storage does. */
  directory?: string;
  /** Absent: any free one. */
  port?: number;
}

/**
 * Starts the Versity S3 gateway over a folder, on 127.0.0.1, as a child that ends with this process.
 * The bucket is called `results`.
 */
export async function startS3(options: S3Options = {}): Promise<RunningS3 | MissingEngine> {
  const program = findProgram('versitygw');
  if (program === null) {
    return {
      missing: 'versitygw, the S3 storage of the tests, is not installed: run deploy/engines.sh (needs Go)',
    };
  }
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), 'gleaner-s3-')));
  const port = options.port ?? (await freePort());
  // A bucket is a folder; what belongs to a file beside its content goes to the other one.
  const [data, beside] = [join(directory, 'data'), join(directory, 'beside')];
  await mkdir(join(data, 'results'), { recursive: true });
  await mkdir(beside, { recursive: true });
  const server = await startProgram(
    program,
    ['--port', `127.0.0.1:${port}`, 'posix', '--sidecar', beside, data],
    (line) => (line.includes(`127.0.0.1:${port}`) ? true : null),
    { ROOT_ACCESS_KEY_ID: 'gleaner', ROOT_SECRET_ACCESS_KEY: 'gleaner/secret' },
  );
  // Its banner may come before it listens.
  while (!(await fetch(`http://127.0.0.1:${port}/`).catch(() => null))) await setImmediate();
  const remove = async () => {
    if (options.directory === undefined) await rm(directory, { recursive: true, force: true });
  };
  return {
    pid: server.pid,
    port,
    url: `http://gleaner:gleaner%2Fsecret@127.0.0.1:${port}/results`,
    stop: () => server.stop().then(remove),
    kill: () => server.kill().then(remove),
  };
}
