import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../support/servers/ports.ts';
import { findProgram, type MissingEngine } from './missing.ts';
import { type RunningProgram, startProgram } from './program.ts';

/** A running nats-server with JetStream. */
export interface RunningNats extends RunningProgram {
  /** `nats://127.0.0.1:<port>`; for a cluster, the addresses of all servers. */
  readonly url: string;
  readonly port: number;
  /** Returns the address of an account that was not returned before. Throws without `accounts`. */
  nextAccount(): string;
}

/** Options for startNats(). */
export interface NatsOptions {
  /** Folder for the data of a server that will be restarted. By default a temporary folder. */
  directory?: string;
  /** By default a free port. */
  port?: number;
  /**
   * True if the server has accounts, each with its own JetStream, instead of one for all clients.
   */
  accounts?: boolean;
  /** Membership of a cluster. By default a single server. */
  member?: NatsMember;
}

/** Membership of a server in a cluster. */
export interface NatsMember {
  name: string;
  /** Address for the other servers. */
  route: string;
  /** Addresses of all servers. */
  routes: readonly string[];
}

/** Returns the path of nats-server, or why it is unavailable. */
export async function findNats(): Promise<{ program: string } | MissingEngine> {
  const program = findProgram('nats-server');
  return program === null ? absent : { program };
}

const absent = {
  missing:
    'nats-server is not installed: run deploy/engines.sh, or install it (Debian: apt-get install nats-server)',
};

/** Starts nats-server on 127.0.0.1. It ends with this process. */
export async function startNats(options: NatsOptions = {}): Promise<RunningNats | MissingEngine> {
  const found = await findNats();
  if ('missing' in found) return found;
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), 'gleaner-nats-')));
  const port = options.port ?? (await freePort());
  return run(found.program, port, directory, options);
}

/** Starts a cluster of servers. The `url` of each server lists all of them. */
export async function startNatsCluster(size: number): Promise<RunningNats[] | MissingEngine> {
  const members = await natsMembers(size);
  const servers = await Promise.all(members.map((member) => startNats({ member })));
  const started = servers.flatMap((server) => ('missing' in server ? [] : [server]));
  if (started.length < size) return absent;
  const url = started.map((server) => server.url).join(',');
  return started.map((server) => ({ ...server, url }));
}

/** Returns the members of a cluster that is not started yet, named `server-0` and so on. */
export async function natsMembers(size: number): Promise<NatsMember[]> {
  const ports = await Promise.all(Array.from({ length: size }, freePort));
  const routes = ports.map((port) => `nats://127.0.0.1:${port}`);
  return routes.map((route, index) => ({ name: `server-${index}`, route, routes }));
}

/** Number of accounts of a server that has them: more than a run of the tests needs. */
const maxAccounts = 1_000;

/** Writes a configuration with accounts to a folder and returns its path. */
async function writeAccounts(directory: string): Promise<string> {
  const path = join(directory, 'accounts.conf');
  const accounts = Array.from(
    { length: maxAccounts },
    (_, index) => `a${index} { jetstream: enabled, users: [{ user: a${index}, password: a }] }`,
  );
  await writeFile(path, `accounts {\n${accounts.join('\n')}\n}\n`);
  return path;
}

async function run(
  program: string,
  port: number,
  directory: string,
  { directory: given, member, accounts }: NatsOptions,
): Promise<RunningNats> {
  const cluster = member
    ? ['--name', member.name, '--cluster_name', 'gleaner-test', '--cluster', member.route]
    : [];
  const routes = member ? ['--routes', member.routes.join(',')] : [];
  const ready = (line: string) => (line.includes('Server is ready') ? true : null);
  const parameters = [
    '-a',
    '127.0.0.1',
    '-p',
    `${port}`,
    '-js',
    '-sd',
    directory,
    ...cluster,
    ...routes,
  ];
  if (accounts) parameters.push('-c', await writeAccounts(directory));
  const server = await startProgram(program, parameters, ready);
  let used = 0;
  const remove = async () => {
    if (given === undefined) await rm(directory, { recursive: true, force: true });
  };
  return {
    ...server,
    port,
    nextAccount() {
      if (!accounts || used === maxAccounts) throw new Error('nats-server has no further account');
      return `nats://a${used++}:a@127.0.0.1:${port}`;
    },
    url: `nats://127.0.0.1:${port}`,
    stop: () => server.stop().then(remove),
    kill: () => server.kill().then(remove),
  };
}
