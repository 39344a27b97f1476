import type { DescMethod } from '@bufbuild/protobuf';
import { Code, ConnectError, type HandlerContext } from '@connectrpc/connect';
import type { Log } from '../../base/log.ts';
import { Fault } from '../../contract/fault.ts';
import { requestIdHeader } from '../../contract/request-id.ts';
import { recordCallError } from './call-spans.ts';
import { toConnectError } from './fault-detail.ts';

/**
 * Returns the RPC error of a call that failed in the core, and logs internal errors and outages. A call that
 * was cancelled, or whose deadline passed, failed for that reason.
 */
export function failCall(
  log: Log,
  method: DescMethod,
  context: Pick<HandlerContext, 'requestHeader' | 'values' | 'signal'>,
  thrown: unknown,
): ConnectError {
  const { aborted, reason } = context.signal;
  if (aborted) return recordCallError(context, ConnectError.from(reason, Code.Canceled));
  const { code } = Fault.from(thrown);
  if (code === 'internal' || code === 'unavailable') {
    const entry = { requestId: context.requestHeader.get(requestIdHeader), method: method.name, err: thrown };
    log[code === 'internal' ? 'error' : 'warn'](entry, 'call failed');
  }
  return recordCallError(context, toConnectError(thrown));
}
