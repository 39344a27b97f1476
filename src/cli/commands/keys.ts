import { timestampFromDate } from '@bufbuild/protobuf/wkt';
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
import { UsageError } from './exit.ts';
import { type Column, time } from './print.ts';

const columns: Column<ApiKey>[] = [
  { name: 'KEY', text: ({ keyId }) => keyId },
  { name: 'BEGINS', text: ({ prefix }) => prefix },
  { name: 'NAME', text: ({ name }) => name },
  { name: 'MADE (UTC)', text: ({ createdAt }) => time(createdAt) },
  { name: 'USED', text: ({ lastUsedAt }) => time(lastUsedAt) || 'never' },
  {
    name: 'ENDS',
    text: ({ expiresAt, revokedAt }) => (revokedAt ? `revoked ${time(revokedAt)}` : time(expiresAt)),
  },
];

const expiresOption = [
  '--expires <time>',
  'when the key stops working: 2030-01-31, or days such as 90d',
] as const;

/** Adds `keys` for the caller's own, and `key` for operators. */
export function addKeyCommands(program: Command): void {
  const own = program.command('keys').description('your API keys');
  addCommand(own, {
    usage: 'list',
    about: 'list them, revoked ones too',
    async run(session) {
      const { keys } = await session
        .user()
        .call(AccountService.method.listApiKeys, {}, { signal: session.signal });
      await session.list(ApiKeySchema, keys, columns, 'There are no keys.');
    },
  });
  addCommand<{ expires?: string }>(own, {
    usage: 'create <name>',
    about: 'make one; it is printed this once',
    options: [expiresOption],
    async run(session, { expires }, name: string) {
      const request = { name, ...expiryOf(expires) };
      const made = await session
        .user()
        .call(AccountService.method.createApiKey, request, { signal: session.signal });
      await session.show(CreateApiKeyResponseSchema, made, () => `${made.apiKey}\n`);
    },
  });
  addCommand(own, {
    usage: 'revoke <key-id...>',
    about: 'end keys at once',
    async run(session, _options, ids: string[]) {
      for (const keyId of ids) {
        const { revokeApiKey } = AccountService.method;
        const { key } = await session.user().call(revokeApiKey, { keyId }, { signal: session.signal });
        await session.show(ApiKeySchema, key!, () => `${keyId} revoked\n`);
      }
    },
  });

  const { listApiKeys, createApiKey, revokeApiKey } = OperatorService.method;
  const anyones = program.command('key').description("users' API keys, as an operator");
  addCommand(anyones, {
    usage: 'list <user-id>',
    about: "list a user's keys, revoked ones too",
    async run(session, _options, userId: string) {
      const { keys } = await session.operator().call(listApiKeys, { userId }, { signal: session.signal });
      await session.list(ApiKeySchema, keys, columns, 'There are no keys.');
    },
  });
  addCommand<{ expires?: string }>(anyones, {
    usage: 'create <user-id> [name]',
    about: 'make a key for a user; it is printed this once',
    options: [expiresOption],
    async run(session, { expires }, userId: string, name = 'cli') {
      const request = { userId, name, ...expiryOf(expires) };
      const made = await session.operator().call(createApiKey, request, { signal: session.signal });
      await session.show(OperatorCreateApiKeyResponseSchema, made, () => `${made.apiKey}\n`);
    },
  });
  addCommand(anyones, {
    usage: 'revoke <key-id...>',
    about: "end anybody's keys at once",
    async run(session, _options, ids: string[]) {
      for (const keyId of ids) {
        const { key } = await session.operator().call(revokeApiKey, { keyId }, { signal: session.signal });
        await session.show(ApiKeySchema, key!, () => `${keyId} revoked\n`);
      }
    },
  });
}

function expiryOf(text: string | undefined): { expiresAt?: ReturnType<typeof timestampFromDate> } {
  if (text === undefined) return {};
  const days = /^(\d{1,5})d$/.exec(text)?.[1];
  const date = days === undefined ? new Date(text) : new Date(Date.now() + Number(days) * 86_400_000);
  if (Number.isNaN(date.getTime())) throw new UsageError(`--expires ${text}: expected 2030-01-31 or 90d`);
  return { expiresAt: timestampFromDate(date) };
}
