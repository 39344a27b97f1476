import type { DescMethod, MessageInitShape } from '@bufbuild/protobuf';
import {
  AccountService,
  type ExportLedgerRequest,
  type UsageDaySchema,
} from '../../../gen/gleaner/account/v1/account_pb.ts';
import { testAccountId } from '../../access/principal.ts';
import { keyAccount } from '../../access/test-account.ts';
import { Fault } from '../../contract/fault.ts';
import type { JobContext } from '../../jobs/context.ts';
import { revokeApiKey } from '../../store/keys.ts';
import type { LedgerSum } from '../../store/ledger.ts';
import { exportAccount } from './account-export.ts';
import { toAccountMessage, toApiKeyMessage, toLedgerEntryMessage } from './account-messages.ts';
import { keyFields, listKeys } from './api-keys.ts';
import { streamText } from './body-stream.ts';
import { createKeyOnce } from './create-key-once.ts';
import { exportLedger } from './entry-export.ts';
import { type Handlers, handle, pageOf, type StreamHandler } from './handlers.ts';

const dayMs = 86_400_000;

/**
 * Returns the start of the first of `days` UTC days that end with the day of `now`, in milliseconds
 * since the epoch.
 */
function firstDay(now: number, days: number): number {
  return (Math.floor(now / dayMs) - days + 1) * dayMs;
}

/**
 * Returns the message UsageDay of `days` days from `first` on, oldest first, including days without
 * entries.
 */
function usageShapes(
  sums: readonly LedgerSum[],
  first: number,
  days: number,
): MessageInitShape<typeof UsageDaySchema>[] {
  const sumsByDay = new Map(sums.map((sum) => [`${sum.day} ${sum.type}`, sum]));
  return Array.from({ length: days }, (_, index) => {
    const day = first + index * dayMs;
    const of = (type: LedgerSum['type']) => sumsByDay.get(`${day} ${type}`);
    return {
      day: new Date(day).toISOString().slice(0, 10),
      charged: BigInt(-(of('charge')?.amount ?? 0)),
      refunded: BigInt(of('refund')?.amount ?? 0),
      granted: BigInt(of('grant')?.amount ?? 0),
      jobs: of('charge')?.entries ?? 0,
    };
  });
}

/** Days of usage if the request has no number. */
const usageDays = 30;

/** Returns the handlers of gleaner.account.v1.AccountService. */
export function accountHandlers(context: JobContext): Handlers {
  const { store, clock } = context;
  const { method } = AccountService;
  const unary = new Map([
    handle(method.getAccount, async (_request, { principal }) => ({
      account: toAccountMessage(principal.account),
    })),
    handle(method.listLedgerEntries, async (request, { principal }) => {
      const { items, next } = await store.ledger.list(
        { userId: principal.userId },
        pageOf(request),
      );
      return { entries: items.map(toLedgerEntryMessage), nextPageToken: next ?? '' };
    }),
    handle(method.getUsage, async (request, { principal }) => {
      const days = request.days || usageDays;
      const first = firstDay(clock.now(), days);
      return { days: usageShapes(await store.ledger.sum(principal.userId, first), first, days) };
    }),
    handle(method.createApiKey, async (request, call) => {
      const { principal } = call;
      const { account: user, role, creditCeiling } = principal;
      // Another key would not share the limit.
      if (creditCeiling !== null)
        throw new Fault('forbidden', 'A key with a credit ceiling cannot create keys.');
      const { sandbox } = context.settings;
      return createKeyOnce(context, { method: method.createApiKey, request, call }, async (now) => {
        const account = await keyAccount(store, {
          user,
          mode: request.mode,
          sandbox,
          now,
        });
        return {
          ...account,
          role,
          createdAt: now,
          ...keyFields(request),
        };
      });
    }),
    handle(method.revokeApiKey, async ({ keyId }, { principal }) => {
      const { userId, mode } = principal;
      const own = await revokeApiKey(store, keyId, clock.now(), userId);
      if (own !== null) return { key: toApiKeyMessage(own, mode) };
      const test =
        mode === 'live'
          ? await revokeApiKey(store, keyId, clock.now(), testAccountId(userId))
          : null;
      if (test === null) throw new Fault('not_found', `There is no key '${keyId}'.`);
      return { key: toApiKeyMessage(test, 'test') };
    }),
    handle(method.listApiKeys, async (_request, { principal }) => ({
      keys: await listKeys(store, principal.account),
    })),
  ]);
  const stream = new Map<DescMethod, StreamHandler>([
    [
      method.exportLedger,
      (request, { principal }) =>
        exportLedger(store, principal.userId, (request as ExportLedgerRequest).format),
    ],
    [
      method.exportAccount,
      async function* (_request, { principal }) {
        yield* streamText('application/x-ndjson', exportAccount(context, principal.account));
      },
    ],
  ]);
  return { unary, stream };
}
