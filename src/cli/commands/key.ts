import { type Timestamp, timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Command } from 'commander';
import { AccountService, type ApiKey } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import {
  type KeyScope,
  keyScopes,
  type OperatorRole,
  operatorRoles,
} from '../../contract/permission.ts';
import { integer, timeOf } from './command.ts';
import { UsageError } from './exit.ts';
import { count, type PrintedColumn } from './print.ts';
import { addList, addShow } from './resource.ts';
import type { CommandSession } from './session.ts';

/** Options of a new user's key. */
export interface KeyFlags {
  expires?: string;
  scopes?: string;
  creditCeiling?: string;
  test?: true;
}

/** Declarations of KeyFlags. */
const keyOptions = [
  ['--expires <time>', 'expiry: a date such as 2030-01-31, or days such as 90d'],
  ['--scopes <scopes>', 'what the key may be used for: read, submit, or read,submit (default)'],
  ['--credit-ceiling <n>', 'maximum credits that the key may spend in total'],
  ['--test', 'a test key, whose jobs use the sandbox and cost nothing'],
] as const;

/** Declaration of the role of an operator's key. */
const roleOption = [
  '--role <role>',
  "role of an operator's key: viewer, approver, or admin (default)",
] as const;

/** Returns the fields of a request for a key. Throws a UsageError for an invalid option. */
function keyRequest({ expires, scopes, creditCeiling, test }: KeyFlags): {
  expiresAt?: Timestamp;
  scopes: KeyScope[];
  creditCeiling?: bigint;
  mode: '' | 'test';
} {
  return {
    ...expiryOf(expires),
    scopes: scopes === undefined ? [] : scopesOf(scopes),
    mode: test === true ? 'test' : '',
    ...(creditCeiling === undefined
      ? {}
      : { creditCeiling: BigInt(integer('--credit-ceiling', creditCeiling, 0)) }),
  };
}

/** Returns the role; '' if the option is absent. Throws a UsageError for another text. */
function roleOf(text: string | undefined): OperatorRole | '' {
  if (text === undefined) return '';
  const role = operatorRoles.find((allowedName) => allowedName === text);
  if (role === undefined)
    throw new UsageError(`--role: "${text}" is not ${operatorRoles.join(', ')}`);
  return role;
}

function scopesOf(text: string): KeyScope[] {
  return text.split(',').map((name) => {
    const scope = keyScopes.find((allowedName) => allowedName === name.trim());
    if (scope === undefined)
      throw new UsageError(`--scopes: "${name}" is not ${keyScopes.join(' or ')}`);
    return scope;
  });
}

function expiryOf(text: string | undefined): { expiresAt?: Timestamp } {
  if (text === undefined) return {};
  const days = /^(\d{1,5})d$/.exec(text)?.[1];
  const form = 'a date such as 2030-01-31 or a number of days such as 90d';
  const expiresAt =
    days === undefined
      ? timeOf('--expires', text, form)
      : timestampFromMs(Date.now() + Number(days) * 86_400_000);
  return { expiresAt };
}

const columns: PrintedColumn<ApiKey>[] = [
  { name: 'KEY', text: ({ keyId }) => keyId },
  { name: 'PREFIX', text: ({ prefix }) => prefix },
  { name: 'MODE', text: ({ mode }) => mode },
  { name: 'NAME', text: ({ name }) => name },
  { name: 'ALLOWS', text: ({ scopes, operatorRole }) => operatorRole || scopes.join(',') },
  {
    name: 'SPENT',
    text: ({ creditsSpent, creditCeiling }) =>
      creditCeiling === undefined ? '' : `${count(creditsSpent)} of ${count(creditCeiling)}`,
  },
  { name: 'CREATED', text: ({ createdAt }, { time }) => time(createdAt) },
  { name: 'LAST USED', text: ({ lastUsedAt }, { time }) => time(lastUsedAt) || 'never' },
  {
    name: 'EXPIRES',
    text: ({ expiresAt, revokedAt }, { time }) =>
      revokedAt ? `revoked ${time(revokedAt)}` : time(expiresAt),
  },
];

export function addKeyCommands(program: Command): void {
  const own = AccountService.method;
  const ofUsers = OperatorService.method;
  const key = program.command('key').description('Manage API keys');
  addList(key, {
    usage: 'list',
    about: 'List keys, including revoked ones',
    method: own.listApiKeys,
    operatorMethod: ofUsers.listApiKeys,
    columns,
    none: 'No keys.',
    request: (_flags, session) => checkOwner(session),
  });
  addShow(key, {
    usage: 'create [name]',
    about: 'Create a key and print it (shown only once)',
    options: [...keyOptions, roleOption],
    method: own.createApiKey,
    operatorMethod: ofUsers.createApiKey,
    words: ({ apiKey }) => `${apiKey}\n`,
    request({ role, ...flags }, session, name = 'cli') {
      const operatorRole = roleOf(role);
      if (operatorRole !== '' && !session.isOperator)
        throw new UsageError('--role requires --user with the id of an operator');
      return {
        name,
        ...keyRequest(flags),
        ...checkOwner(session),
        ...(operatorRole && { operatorRole }),
      };
    },
  });
  addShow(key, {
    usage: 'revoke <key-id...>',
    about: 'Revoke keys immediately',
    method: own.revokeApiKey,
    operatorMethod: ofUsers.revokeApiKey,
    words: ({ keyId }) => `${keyId} revoked\n`,
    async request(_flags, { client, userId }, keyId) {
      if (userId === '') return {};
      const { keys } = await client.call(ofUsers.listApiKeys, { userId });
      if (keys.some((found) => found.keyId === keyId)) return {};
      throw new UsageError(`--user: ${keyId} is not a key of the user ${userId}`);
    },
  });
}

/** Checks that an operator names the owner of the keys. Throws a UsageError. */
function checkOwner({ isOperator, userId }: CommandSession): object {
  if (isOperator && userId === '')
    throw new UsageError('Pass --user with the id of a user or an operator.');
  return {};
}
