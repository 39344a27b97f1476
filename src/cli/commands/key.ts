import type { Command } from 'commander';
import { AccountService, type ApiKey } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { UsageError } from './exit.ts';
import { keyOptions, keyRequest, roleOf, roleOption } from './key-options.ts';
import { count, type PrintedColumn } from './print.ts';
import { addList, addShow } from './resource.ts';
import type { CommandSession } from './session.ts';

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

/** Adds `key`. */
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
      return { name, ...keyRequest(flags), ...checkOwner(session), ...(operatorRole && { operatorRole }) };
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
  if (isOperator && userId === '') throw new UsageError('Pass --user with the id of a user or an operator.');
  return {};
}
