import type { Command } from 'commander';
import {
  type Destination,
  DestinationSchema,
  DestinationService,
  TestDestinationResponseSchema,
} from '../../../gen/gleaner/destination/v1/destination_pb.ts';
import type { Io } from '../io.ts';
import { addCommand } from './command.ts';
import { exitCodes, UsageError } from './exit.ts';
import type { Column, Display } from './print.ts';

const columns: Column<Destination>[] = [
  { name: 'DESTINATION', text: ({ destinationId }) => destinationId },
  { name: 'NAME', text: ({ name }) => name },
  { name: 'TO', text: placeOf },
  { name: 'FORMAT', text: ({ format }) => format },
  { name: 'PATH', text: ({ path }) => path },
  { name: 'UPDATED', text: ({ updatedAt }, { time }) => time(updatedAt) },
];

function placeOf({ type, url, bucket, prefix }: Destination): string {
  return type === 's3' ? `${url}/${[bucket, prefix].filter((part) => part !== '').join('/')}` : url;
}

const words =
  (destination: Destination) =>
  ({ pairs, time }: Display) =>
    pairs([
      ['destination', destination.destinationId],
      ['name', destination.name],
      ['to', placeOf(destination)],
      ['region', destination.region],
      ['access key', destination.accessKey],
      ['headers', destination.headerNames.join(', ')],
      ['format', destination.format],
      ['path', destination.path],
      ['updated', time(destination.updatedAt)],
    ]);

/** Flags of `create`. Secrets are in files, because other users of the machine can see the flags of a process. */
interface CreateFlags {
  bucket?: string;
  region?: string;
  prefix?: string;
  accessKey?: string;
  secretFile?: string;
  headersFile?: string;
  format?: string;
  path?: string;
}

const createOptions = [
  ['--bucket <name>', 'bucket of an S3-compatible service; without it, the URL accepts PUT requests'],
  ['--region <region>', 'region of the bucket (default: us-east-1)'],
  ['--prefix <prefix>', 'prefix of the names of all objects'],
  ['--access-key <id>', 'id of the access key of the bucket'],
  ['--secret-file <file>', 'file with the secret of the access key; - reads standard input'],
  [
    '--headers-file <file>',
    'file with headers of PUT requests, one `Name: value` per line; - reads standard input',
  ],
  ['--format <format>', 'json, jsonl, csv, csv-bom, or parquet (default: json)'],
  ['--path <template>', 'names of the files (default: {market}/{kind}/{date}/{job_id}.{ext})'],
] as const;

/** Adds `destinations`. */
export function addDestinationCommands(program: Command): void {
  const { method } = DestinationService;
  const destinations = program
    .command('destinations')
    .description('Manage the places to which results are delivered');
  addCommand(destinations, {
    usage: 'list',
    about: 'List your destinations',
    async run(session) {
      const found = await session.user().call(method.listDestinations, {}, { signal: session.signal });
      await session.list(DestinationSchema, found.destinations, columns, 'No destinations.');
    },
  });
  addCommand<CreateFlags>(destinations, {
    usage: 'create <name> <address>',
    about: 'Create a destination, after a test object was written and deleted',
    options: createOptions,
    async run(session, flags, name: string, address: string) {
      const request = await createRequest(session.io, name, address, flags);
      const { destination } = await session
        .user()
        .call(method.createDestination, request, { signal: session.signal });
      await session.show(DestinationSchema, destination!, words(destination!));
    },
  });
  addCommand(destinations, {
    usage: 'show <destination-id>',
    about: 'Show a destination, without its secrets',
    async run(session, _options, destinationId: string) {
      const { destination } = await session
        .user()
        .call(method.getDestination, { destinationId }, { signal: session.signal });
      await session.show(DestinationSchema, destination!, words(destination!));
    },
  });
  addCommand(destinations, {
    usage: 'test <destination-id>',
    about: 'Write a test object and delete it again',
    async run(session, _options, destinationId: string) {
      const result = await session
        .user()
        .call(method.testDestination, { destinationId }, { signal: session.signal });
      const { ok, target, error } = result;
      await session.show(TestDestinationResponseSchema, result, () =>
        ok ? `${target} written and deleted\n` : `${target}: ${error}\n`,
      );
      return ok ? undefined : exitCodes.failed;
    },
  });
  addCommand(destinations, {
    usage: 'delete <destination-id...>',
    about: 'Delete destinations and their secrets',
    async run(session, _options, ids: string[]) {
      for (const destinationId of ids) {
        await session.user().call(method.deleteDestination, { destinationId }, { signal: session.signal });
        if (!session.isJson) await session.write(`${destinationId} deleted\n`);
      }
    },
  });
}

async function createRequest(io: Io, name: string, url: string, flags: CreateFlags) {
  const { bucket = '', region = '', prefix = '', accessKey = '', format = '', path = '' } = flags;
  const { secretFile, headersFile } = flags;
  return {
    name,
    type: bucket === '' ? 'https' : 's3',
    url,
    bucket,
    region,
    prefix,
    accessKey,
    secretKey: secretFile === undefined ? '' : (await readSecret(io, '--secret-file', secretFile)).trim(),
    headers: headersFile === undefined ? [] : await readHeaders(io, headersFile),
    format,
    path,
  };
}

async function readSecret(io: Io, flag: string, file: string): Promise<string> {
  try {
    return await io.readText(file);
  } catch (error) {
    throw new UsageError(`${flag}: cannot read ${file}: ${(error as Error).message}`);
  }
}

async function readHeaders(io: Io, file: string): Promise<{ name: string; value: string }[]> {
  const lines = (await readSecret(io, '--headers-file', file)).split('\n');
  return lines.flatMap((line, index) => {
    if (line.trim() === '') return [];
    const [, name, value] = /^([^:\s]+):\s*(.*\S)\s*$/.exec(line) ?? [];
    if (name !== undefined && value !== undefined) return [{ name, value }];
    throw new UsageError(`--headers-file: line ${index + 1} of ${file} is not \`Name: value\``);
  });
}
