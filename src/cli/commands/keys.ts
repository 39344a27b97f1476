import type { Command } from 'commander';
import {
  AccountService,
  type ApiKey,
  ApiKeySchema,
  CreateApiKeyResponseSchema,
} from '../../../gen/gleaner/account/v1/account_pb.ts';
import {
  CreateApiKeyResponseSchema as OperatorCreateApiKeyResponseSchema,
  OperatorService,
} from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { addCommand } from './command.ts';
import { type KeyFlags, keyOptions, keyRequest, roleOf, roleOption } from './key-options.ts';
import { type Column, count } from './print.ts';

const columns: Column<ApiKey>[] = [
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

/** Adds `keys` for the caller's keys, and `key` for operators. */
export function addKeyCommands(program: Command): void {
  const own = program.command('keys').description('Manage your API keys');
  addCommand(own, {
    usage: 'list',
    about: 'List your keys, including revoked ones',
    async run(session) {
      const { keys } = await session
        .user()
        .call(AccountService.method.listApiKeys, {}, { signal: session.signal });
      await session.list(ApiKeySchema, keys, columns, 'No keys.');
    },
  });
  addCommand<KeyFlags>(own, {
    usage: 'create <name>',
    about: 'Create a key and print it (shown only once)',
    options: [...keyOptions],
    async run(session, flags, name: string) {
      const request = { name, ...keyRequest(flags) };
      const created = await session
        .user()
        .call(AccountService.method.createApiKey, request, { signal: session.signal });
      await session.show(CreateApiKeyResponseSchema, created, () => `${created.apiKey}\n`);
    },
  });
  addCommand(own, {
    usage: 'revoke <key-id...>',
    about: 'Revoke keys immediately',
    async run(session, _options, ids: string[]) {
      for (const keyId of ids) {
        const { revokeApiKey } = AccountService.method;
        const { key } = await session.user().call(revokeApiKey, { keyId }, { signal: session.signal });
        await session.show(ApiKeySchema, key!, () => `${keyId} revoked\n`);
      }
    },
  });

  const { listApiKeys, createApiKey, revokeApiKey } = OperatorService.method;
  const ofUsers = program.command('key').description("Manage users' API keys (operators)");
  addCommand(ofUsers, {
    usage: 'list <user-id>',
    about: "List a user's keys, including revoked ones",
    async run(session, _options, userId: string) {
      const { keys } = await session.operator().call(listApiKeys, { userId }, { signal: session.signal });
      await session.list(ApiKeySchema, keys, columns, 'No keys.');
    },
  });
  addCommand<KeyFlags & { role?: string }>(ofUsers, {
    usage: 'create <user-id> [name]',
    about: 'Create a key for a user or an operator and print it (shown only once)',
    options: [...keyOptions, roleOption],
    async run(session, { role, ...flags }, userId: string, name = 'cli') {
      const request = { userId, name, ...keyRequest(flags), operatorRole: roleOf(role) };
      const created = await session.operator().call(createApiKey, request, { signal: session.signal });
      await session.show(OperatorCreateApiKeyResponseSchema, created, () => `${created.apiKey}\n`);
    },
  });
  addCommand(ofUsers, {
    usage: 'revoke <key-id...>',
    about: 'Revoke keys immediately',
    async run(session, _options, ids: string[]) {
      for (const keyId of ids) {
        const { key } = await session.operator().call(revokeApiKey, { keyId }, { signal: session.signal });
        await session.show(ApiKeySchema, key!, () => `${keyId} revoked\n`);
      }
    },
  });
}
