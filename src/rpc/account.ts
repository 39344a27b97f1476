import { AccountService, type ExportLedgerRequest } from '../../gen/gleaner/account/v1/account_pb.ts';
import { createKey, makeKeyRoom } from '../access/keys.ts';
import type { Principal } from '../access/principal.ts';
import { keyAccount, testAccountId } from '../access/test-account.ts';
import { Fault } from '../contract/fault.ts';
import type { JobContext, StoreUse } from '../jobs/context.ts';
import { fullName } from '../jobs/offers.ts';
import { listPrices } from '../jobs/prices.ts';
import { type AccountExportContext, exportAccount } from './account-export.ts';
import { defaultPageSize, type Handlers, handle, type StreamHandler } from './handlers.ts';
import { streamText } from './job-stream.ts';
import { keyFields } from './key-fields.ts';
import { listKeys } from './key-list.ts';
import { exportLedger } from './ledger-export.ts';
import { accountShape, entryShape, keyShape } from './shapes.ts';
import { firstDay, usageShapes } from './usage-shape.ts';

/** Dependencies of this module. */
type AccountContext = Pick<JobContext, 'clock' | 'offers' | 'settings'> &
  AccountExportContext &
  StoreUse<
    | 'createApiKey'
    | 'deleteApiKey'
    | 'createUser'
    | 'getUser'
    | 'listApiKeys'
    | 'listLedgerEntries'
    | 'revokeApiKey'
    | 'sumLedger'
  >;

/** Days of usage if the request has no number. */
const usageDays = 30;

/** Returns the handlers of gleaner.account.v1.AccountService. */
export function accountHandlers(context: AccountContext): Handlers {
  const { store, clock } = context;
  const { method } = AccountService;
  const accountOf = async ({ userId }: Pick<Principal, 'userId'>) => {
    const user = await store.getUser(userId);
    if (user === null) throw new Fault('not_found', 'The account does not exist.');
    return user;
  };
  const unary = new Map([
    handle(method.getAccount, async (_request, { principal }) => ({
      account: accountShape(await accountOf(principal)),
    })),
    handle(method.listLedgerEntries, async (request, { principal }) => {
      const page = { limit: request.pageSize || defaultPageSize, after: request.pageToken || null };
      const { items, next } = await store.listLedgerEntries(principal.userId, page);
      return { entries: items.map(entryShape), nextPageToken: next ?? '' };
    }),
    handle(method.getUsage, async (request, { principal }) => {
      const days = request.days || usageDays;
      const first = firstDay(clock.now(), days);
      return { days: usageShapes(await store.sumLedger(principal.userId, first), first, days) };
    }),
    handle(method.listPrices, async () => ({ prices: listPrices(context) })),
    handle(method.createApiKey, async (request, { principal }) => {
      const { role, creditCeiling } = principal;
      // Another key would not share the limit.
      if (creditCeiling !== null)
        throw new Fault('forbidden', 'A key with a credit ceiling cannot create keys.');
      const user = await accountOf(principal);
      const now = clock.now();
      const { sandbox } = context.settings;
      const account = await keyAccount(store, { user, mode: request.mode, sandbox, now });
      await makeKeyRoom(store, account.userId, now);
      return createKey(store, { ...account, role, createdAt: now, ...keyFields(request) });
    }),
    handle(method.revokeApiKey, async ({ keyId }, { principal }) => {
      const { userId, mode } = principal;
      const own = await store.revokeApiKey(keyId, clock.now(), userId);
      if (own !== null) return { key: keyShape(own, mode) };
      const test =
        mode === 'live' ? await store.revokeApiKey(keyId, clock.now(), testAccountId(userId)) : null;
      if (test === null) throw new Fault('not_found', `There is no key '${keyId}'.`);
      return { key: keyShape(test, 'test') };
    }),
    handle(method.listApiKeys, async (_request, { principal }) => ({
      keys: await listKeys(store, await accountOf(principal)),
    })),
  ]);
  const stream = new Map<string, StreamHandler>([
    [
      fullName(method.exportLedger),
      (request, { principal }) =>
        exportLedger(store, principal.userId, (request as ExportLedgerRequest).format),
    ],
    [
      fullName(method.exportAccount),
      async function* (_request, { principal }) {
        yield* streamText('application/x-ndjson', exportAccount(context, await accountOf(principal)));
      },
    ],
  ]);
  return { unary, stream };
}
