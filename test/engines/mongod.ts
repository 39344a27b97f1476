import { randomBytes } from 'node:crypto';
import { MongoClient } from 'mongodb';
import { findProgram } from './missing.ts';
import { type RunningProgram, startProgram } from './program.ts';

/** A member of a replica set. */
export interface RunningMongod extends RunningProgram {
  readonly port: number;
}

const setName = 'gleaner-test';
const cacheGigabytes = '0.25';

/** Returns the path of mongod, or null if it is not installed. */
export const findMongod = (): string | null => findProgram('mongod');

/** Starts a member of a replica set on 127.0.0.1. It ends with this process. */
export async function startMongod(
  program: string,
  { directory, port }: { directory: string; port: number },
): Promise<RunningMongod> {
  const network = ['--bind_ip', '127.0.0.1', '--port', `${port}`];
  const storage = ['--dbpath', directory, '--wiredTigerCacheSizeGB', cacheGigabytes];
  const server = await startProgram(
    program,
    ['--replSet', setName, ...network, ...storage],
    (line) => (line.includes('Waiting for connections') ? true : null),
  );
  return { ...server, port };
}

/**
 * Initiates the replica set of started members. Returns the connection string of a new database.
 */
export async function initiateReplicaSet(ports: readonly number[]): Promise<string> {
  const hosts = ports.map((port) => `127.0.0.1:${port}`);
  const first = new MongoClient(`mongodb://${hosts[0]}/?directConnection=true`);
  try {
    const members = hosts.map((host, index) => ({ _id: index, host }));
    await first.db('admin').command({ replSetInitiate: { _id: setName, members } });
  } finally {
    await first.close();
  }
  const database = `gleaner_${randomBytes(6).toString('hex')}`;
  const uri = `mongodb://${hosts.join(',')}/${database}?replicaSet=${setName}`;
  const client = new MongoClient(uri);
  try {
    // Waits for the election of a primary.
    await client.db('admin').command({ ping: 1 });
  } finally {
    await client.close();
  }
  return uri;
}
