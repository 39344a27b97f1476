import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { ListMultipartUploadsCommand } from '@aws-sdk/client-s3';
import { createS3Client } from '../../src/blobs/s3/client.ts';
import { freePort } from '../support/servers/ports.ts';
import { findProgram, type MissingEngine } from './missing.ts';
import { type RunningProgram, startProgram } from './program.ts';

/** A running S3-compatible storage. */
export interface RunningS3 extends RunningProgram {
  /** GLEANER_S3_URL of an existing bucket, with credentials. */
  readonly url: string;
  readonly port: number;
  /** Creates another bucket and returns its GLEANER_S3_URL. */
  createBucket(): Promise<string>;
  /** Returns the keys of unfinished multipart uploads in the bucket of `url`. */
  unfinishedUploads(): Promise<string[]>;
}

/** Options for startS3(). */
export interface S3Options {
  /** Folder for the data of a storage that will be restarted. By default a temporary folder. */
  directory?: string;
  /** By default a free port. */
  port?: number;
}

/**
 * Starts the Versity S3 gateway over a folder on 127.0.0.1. It ends with this process. The bucket
 * is named `results`.
 */
export async function startS3(options: S3Options = {}): Promise<RunningS3 | MissingEngine> {
  const program = findProgram('versitygw');
  if (program === null) {
    return {
      missing:
        'versitygw, the S3 storage of the tests, is not installed: run deploy/engines.sh (needs Go)',
    };
  }
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), 'gleaner-s3-')));
  const port = options.port ?? (await freePort());
  // A bucket is a folder; metadata of its objects is kept in another one.
  const [data, metadata] = [join(directory, 'data'), join(directory, 'metadata')];
  const addressOf = (bucket: string) =>
    `http://gleaner:gleaner%2Fsecret@127.0.0.1:${port}/${bucket}`;
  const createBucket = async (bucket = `bucket-${randomBytes(6).toString('hex')}`) => {
    await mkdir(join(data, bucket), { recursive: true });
    return addressOf(bucket);
  };
  await createBucket('results');
  await mkdir(metadata, { recursive: true });
  const server = await startProgram(
    program,
    ['--port', `127.0.0.1:${port}`, 'posix', '--sidecar', metadata, data],
    (line) => (line.includes(`127.0.0.1:${port}`) ? true : null),
    { ROOT_ACCESS_KEY_ID: 'gleaner', ROOT_SECRET_ACCESS_KEY: 'gleaner/secret' },
  );
  // The banner may be printed before the port is open.
  while (!(await fetch(`http://127.0.0.1:${port}/`).catch(() => null))) await setImmediate();
  const remove = async () => {
    if (options.directory === undefined) await rm(directory, { recursive: true, force: true });
  };
  return {
    ...server,
    port,
    url: addressOf('results'),
    createBucket: () => createBucket(),
    unfinishedUploads: async () => {
      const client = createS3Client({
        endpoint: `http://127.0.0.1:${port}`,
        region: 'us-east-1',
        credentials: { accessKeyId: 'gleaner', secretAccessKey: 'gleaner/secret' },
      });
      const { Uploads = [] } = await client.send(
        new ListMultipartUploadsCommand({ Bucket: 'results' }),
      );
      client.destroy();
      return Uploads.map(({ Key }) => Key ?? '');
    },
    stop: () => server.stop().then(remove),
    kill: () => server.kill().then(remove),
  };
}
