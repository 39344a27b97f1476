import type { HandlerContext } from '@connectrpc/connect';
import { acceptRequest, beginLongRequest, refuseRequest } from '../../base/connections.ts';
import type { LongRequestKind } from '../../contract/caller.ts';
import { waitMetadata } from '../../contract/wait.ts';
import { exchangeOf, headerOf } from './exchange.ts';

/**
 * Creates the request gate of a method. `admit` authenticates the caller by the headers and returns
 * the user's id. Connect calls the gate before it reads the body; an error ends the call with the
 * body unread.
 */
export function createRequestGate(
  admit: (context: HandlerContext) => Promise<string>,
  toError: (context: HandlerContext, error: unknown) => Error,
): (context: HandlerContext) => Promise<void> {
  return async (context) => {
    const exchange = exchangeOf(context);
    const { request, response } = exchange;
    try {
      const account = await admit(context);
      exchange.userId = account;
      acceptRequest(request, account);
      const kind = longKindOf(context);
      if (kind !== null)
        exchange.early = await beginLongRequest(request, response, { account, kind });
      // The timeout of the call may be over, or 0 from the start.
      context.signal.throwIfAborted();
    } catch (error) {
      refuseRequest(request);
      throw toError(context, error);
    }
  };
}

/** Returns the kind of a call that may last long. Null for another one. */
function longKindOf(context: HandlerContext): LongRequestKind | null {
  const { method } = context;
  if (method.methodKind !== 'unary') return method.name.startsWith('Watch') ? 'watch' : 'stream';
  if (headerOf(exchangeOf(context).request, waitMetadata) === undefined) return null;
  return 'wait';
}
