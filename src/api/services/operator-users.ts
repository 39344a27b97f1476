import type { DescMethod } from '@bufbuild/protobuf';
import {
  type CreateApiKeyRequest,
  OperatorService,
} from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { newOperator, requireOtherOperatorKey } from '../../access/operator.ts';
import { modeOf } from '../../access/principal.ts';
import { keyAccount } from '../../access/test-account.ts';
import { isEmailAddress } from '../../base/notification-settings.ts';
import { Fault } from '../../contract/fault.ts';
import type { OperatorRole } from '../../contract/permission.ts';
import type { JobContext } from '../../jobs/context.ts';
import type { Role, User } from '../../store/documents.ts';
import { openStates } from '../../store/job-states.ts';
import { revokeApiKey } from '../../store/keys.ts';
import { listUsers, markUserDeleted, suspendUser } from '../../store/users.ts';
import {
  toAccountMessage,
  toApiKeyMessage,
  toLedgerEntryMessage,
  toOperatorMessage,
} from './account-messages.ts';
import { keyFields, listKeys } from './api-keys.ts';
import { createKeyOnce } from './create-key-once.ts';
import { type Handler, handle, pageOf } from './handlers.ts';

/** Returns a user who is not deleted. Throws `conflict` for a deleted one. */
function requireUndeleted(user: User): User {
  if (user.deletedAt !== null) throw new Fault('conflict', `The user '${user.id}' was deleted.`);
  return user;
}

/** Throws `conflict` for a test account, which follows its user. */
function requireLive({ id, testOf }: User): void {
  if (testOf !== null)
    throw new Fault('conflict', `The account '${id}' is the test account of the user '${testOf}'.`);
}

/** Returns the operators' handlers for users, keys and credits. */
export function operatorUserHandlers(context: JobContext): [DescMethod, Handler][] {
  const { store, clock } = context;
  const { method } = OperatorService;

  const userOf = async (userId: string) => {
    const user = await store.users.get(userId);
    if (user === null)
      throw Fault.invalid(['body', 'user_id'], `There is no user '${userId}'`, 'value_error');
    return user;
  };

  return [
    handle(method.createUser, async ({ name, email }) => {
      if (email !== '' && !isEmailAddress(email))
        throw Fault.invalid(['body', 'email'], `"${email}" is not an email address`, 'value_error');
      const user = {
        id: context.newId(),
        name,
        email,
        role: 'user' as const,
        balance: 0,
        createdAt: clock.now(),
        suspendedAt: null,
        deletedAt: null,
        erased: false,
        testOf: null,
      };
      await store.users.insert(user);
      return { user: toAccountMessage(user) };
    }),
    handle(method.listUsers, async (request) => {
      const { items, next } = await listUsers(store, 'user', pageOf(request), request.search);
      return { users: items.map(toAccountMessage), nextPageToken: next ?? '' };
    }),
    handle(method.getUser, async ({ userId }) => {
      const user = await store.users.get(userId);
      if (user === null) throw new Fault('not_found', `There is no user '${userId}'.`);
      return { user: toAccountMessage(user) };
    }),
    handle(method.suspendUser, async ({ userId, suspended }) => {
      const user = await store.users.get(userId);
      if (user === null) throw new Fault('not_found', `There is no user '${userId}'.`);
      // A suspended last operator could not be restored.
      if (user.role === 'operator')
        throw new Fault('conflict', 'Operators cannot be suspended: revoke their keys.');
      requireLive(user);
      requireUndeleted(user);
      return {
        user: toAccountMessage((await suspendUser(store, userId, suspended ? clock.now() : null))!),
      };
    }),
    handle(method.deleteUser, async ({ userId }) => {
      const user = await store.users.get(userId);
      if (user === null) throw new Fault('not_found', `There is no user '${userId}'.`);
      if (user.role === 'operator')
        throw new Fault('conflict', 'Operators cannot be deleted: revoke their keys.');
      requireLive(user);
      const open = await store.jobs.list({ userId, state: { in: openStates } }, { limit: 1 });
      if (user.deletedAt === null && open.items.length > 0)
        throw new Fault(
          'conflict',
          `The user has open jobs, such as ${open.items[0]!.id}. Cancel them first.`,
        );
      return { user: toAccountMessage((await markUserDeleted(store, userId, clock.now()))!) };
    }),
    handle(method.listOperators, async (request) => {
      const { items, next } = await listUsers(store, 'operator', pageOf(request));
      const operators = await Promise.all(
        items.map(async (user) =>
          toOperatorMessage(
            user,
            await store.apiKeys.find({ userId: user.id }, { newestFirst: true }),
          ),
        ),
      );
      return { operators, nextPageToken: next ?? '' };
    }),
    handle(method.createOperator, async ({ name }) => {
      const user = newOperator(context.newId(), name, clock.now());
      await store.users.insert(user);
      return { operator: toOperatorMessage(user, []) };
    }),
    handle(method.listApiKeys, async ({ userId }) => ({
      keys: await listKeys(store, await userOf(userId)),
    })),
    handle(method.listLedgerEntries, async (request) => {
      const { items, next } = await store.ledger.list(
        { userId: request.userId || undefined },
        pageOf(request),
      );
      const entries = items.map((entry) => ({
        ...toLedgerEntryMessage(entry),
        userId: entry.userId,
      }));
      return { entries, nextPageToken: next ?? '' };
    }),
    handle(method.createApiKey, async (request, call) => {
      const { mode, operatorRole } = request;
      const user = requireUndeleted(await userOf(request.userId));
      const { role } = user;
      requireFieldsOfRole(role, request);
      return createKeyOnce(context, { method: method.createApiKey, request, call }, async (now) => {
        const account = await keyAccount(store, {
          user,
          mode,
          sandbox: context.settings.sandbox,
          now,
        });
        const created = {
          ...account,
          role,
          createdAt: now,
          ...keyFields(request),
        };
        return operatorRole === ''
          ? created
          : { ...created, operatorRole: operatorRole as OperatorRole };
      });
    }),
    handle(method.revokeApiKey, async ({ keyId }) => {
      await requireOtherOperatorKey(store, keyId, clock.now());
      const key = await revokeApiKey(store, keyId, clock.now());
      if (key === null) throw new Fault('not_found', `There is no key '${keyId}'.`);
      const owner = await store.users.get(key.userId);
      return { key: toApiKeyMessage(key, owner === null ? 'live' : modeOf(owner)) };
    }),
    handle(method.grantCredits, async ({ userId, amount, note }, { idempotencyKey }) => {
      requireLive(requireUndeleted(await userOf(userId)));
      const grantId =
        idempotencyKey === undefined ? context.newId() : `${userId}:${idempotencyKey}`;
      const key = `grant:${grantId}`;
      const posting = await store.ledger.post({
        key,
        userId,
        amount: Number(amount),
        type: 'grant',
        jobId: null,
        keyId: null,
        note,
        createdAt: clock.now(),
      });
      if (!posting.posted)
        throw new Fault(
          'conflict',
          `The account has ${posting.balance} credits, fewer than ${-amount}.`,
        );
      const entry = await store.ledger.get(key);
      if (entry !== null && (entry.amount !== Number(amount) || entry.note !== note))
        throw new Fault(
          'conflict',
          `The Idempotency-Key '${idempotencyKey}' was already used for a ` +
            `grant of ${entry.amount} credits with the note '${entry.note}'.`,
        );
      return { balance: BigInt(posting.balance) };
    }),
  ];
}

/**
 * Throws `invalid` for a field of a user's key in a request for an operator's key, and the reverse.
 */
function requireFieldsOfRole(
  role: Role,
  {
    scopes,
    creditCeiling,
    operatorRole,
  }: Pick<CreateApiKeyRequest, 'scopes' | 'creditCeiling' | 'operatorRole'>,
): void {
  const refuse = (field: string, owner: string) =>
    Fault.invalid(['body', field], `Value is only allowed for the key of ${owner}`, 'value_error');
  if (role === 'user' && operatorRole !== '') throw refuse('operator_role', 'an operator');
  if (role === 'operator' && scopes.length > 0) throw refuse('scopes', 'a user');
  if (role === 'operator' && creditCeiling !== undefined) throw refuse('credit_ceiling', 'a user');
}
