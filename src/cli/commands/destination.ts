import type { Command } from 'commander';
import {
  type Destination,
  DestinationService,
} from '../../../gen/gleaner/destination/v1/destination_pb.ts';
import type { Io } from '../io.ts';
import { exitCodes, UsageError } from './exit.ts';
import type { Display, PrintedColumn } from './print.ts';
import { addList, addShow, type Flags } from './resource.ts';

const columns: PrintedColumn<Destination>[] = [
  { name: 'DESTINATION', text: ({ destinationId }) => destinationId },
  { name: 'NAME', text: ({ name }) => name },
  { name: 'TO', text: placeOf },
  { name: 'FORMAT', text: ({ format }) => format },
  { name: 'PATH', text: ({ path }) => path },
  { name: 'UPDATED', text: ({ updatedAt }, { time }) => time(updatedAt) },
];

function placeOf({ type, url, bucket, prefix }: Destination): string {
  if (type === 's3') return `${url}/${[bucket, prefix].filter((part) => part !== '').join('/')}`;
  return url;
}

const words = (destination: Destination, { pairs, time }: Display) =>
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

/**
 * Options of `create`. Secrets are in files, because other users of the machine can see the options
 * of a process.
 */
const createOptions = [
  [
    '--bucket <name>',
    'bucket of an S3-compatible service; without it, the URL accepts PUT requests',
  ],
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

export function addDestinationCommands(program: Command): void {
  const { method } = DestinationService;
  const destination = program
    .command('destination')
    .description('Manage the places to which results are delivered');
  addList(destination, {
    usage: 'list',
    about: 'List your destinations',
    method: method.listDestinations,
    columns,
    none: 'No destinations.',
  });
  addShow(destination, {
    usage: 'create <name> <address>',
    about: 'Create a destination, after a test object was written and deleted',
    options: createOptions,
    method: method.createDestination,
    words,
    request: (flags, { io }, _name, url) => createRequest(io, url!, flags),
  });
  addShow(destination, {
    usage: 'show <destination-id>',
    about: 'Show a destination, without its secrets',
    method: method.getDestination,
    words,
  });
  addShow(destination, {
    usage: 'test <destination-id>',
    about: 'Write a test object and delete it again',
    method: method.testDestination,
    words: ({ ok, target, error }) =>
      ok ? `${target} written and deleted\n` : `${target}: ${error}\n`,
    code: ({ ok }) => (ok ? exitCodes.ok : exitCodes.failed),
  });
  addShow(destination, {
    usage: 'delete <destination-id...>',
    about: 'Delete destinations and their secrets',
    method: method.deleteDestination,
    words: (_deleted, _display, destinationId) => `${destinationId} deleted\n`,
  });
}

async function createRequest(io: Io, url: string, { bucket, secretFile, headersFile }: Flags) {
  return {
    type: bucket === undefined ? 'https' : 's3',
    url,
    secretKey:
      secretFile === undefined ? '' : (await readSecret(io, '--secret-file', secretFile)).trim(),
    headers: headersFile === undefined ? [] : await readHeaders(io, headersFile),
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
