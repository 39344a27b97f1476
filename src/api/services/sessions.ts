import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { type SessionSchema, SessionService } from '../../../gen/gleaner/session/v1/session_pb.ts';
import { createBrowserSession } from '../../access/browser-session.ts';
import type { Principal } from '../../access/principal.ts';
import { openTestAccount } from '../../access/test-account.ts';
import { Fault } from '../../contract/fault.ts';
import type { JobContext } from '../../jobs/context.ts';
import { type Handlers, handle } from './handlers.ts';

/** Returns the handlers of gleaner.session.v1.SessionService. */
export function sessionHandlers({ store, clock, settings }: JobContext): Handlers {
  const { method } = SessionService;
  const shape = async (
    { userId, role, mode, scopes, operatorRole, creditCeiling, balance }: Principal,
    expiresAt: number | undefined,
  ): Promise<MessageInitShape<typeof SessionSchema>> => {
    const user = await store.users.get(userId);
    return {
      userId,
      balance: BigInt(balance),
      role,
      mode,
      name: user?.name ?? '',
      scopes: [...scopes],
      operatorRole: operatorRole ?? '',
      ...(creditCeiling === null ? {} : { creditCeiling: BigInt(creditCeiling) }),
      ...(expiresAt === undefined ? {} : { expiresAt: timestampFromMs(expiresAt) }),
    };
  };
  const unary = new Map([
    handle(method.createSession, async (_request, { principal }) => {
      const { token, expiresAt } = await createBrowserSession(store, principal, clock.now());
      return { token, session: await shape(principal, expiresAt) };
    }),
    handle(method.getSession, async (_request, { principal }) => ({
      session: await shape(principal, principal.session?.expiresAt),
    })),
    handle(method.openTestAccount, async (_request, { principal }) => {
      const user = await store.users.get(principal.userId);
      if (user === null) throw new Fault('not_found', 'The account does not exist.');
      await openTestAccount(store, user, { sandbox: settings.sandbox, now: clock.now() });
      return {};
    }),
    handle(method.endSession, async ({ everywhere }, { principal: { userId, session } }) => {
      if (everywhere) await store.sessions.remove({ userId: session?.userId ?? userId });
      else if (session !== undefined) await store.sessions.remove({ hash: session.hash });
      return {};
    }),
  ]);
  return { unary, stream: new Map() };
}
