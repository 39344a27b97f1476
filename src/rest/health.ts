import { type Exchange, sendJson } from '../../gateway/exchange.ts';
import { Fault } from '../contract/fault.ts';
import type { RestCaller } from './rest.ts';

/** Responds to the liveness probe: 200, or 503 until the service admits callers. */
export function serveHealth(caller: RestCaller, exchange: Exchange): void {
  if (caller.started()) sendJson(exchange, 200, '{"status":"ok"}');
  else sendJson(exchange, 503, '{"status":"unavailable","detail":"The service is starting."}');
}

/** Responds to the readiness probe: 200, or 503 with the missing component. */
export async function serveReady(caller: RestCaller, exchange: Exchange): Promise<void> {
  try {
    await caller.ready();
  } catch (error) {
    const fault = Fault.from(error);
    exchange.log.warn({ requestId: exchange.requestId, err: fault }, 'not ready');
    const detail = fault.code === 'internal' ? 'The readiness check failed' : fault.clientMessage;
    sendJson(exchange, 503, JSON.stringify({ status: 'unavailable', detail }));
    return;
  }
  sendJson(exchange, 200, '{"status":"ready"}');
}
