import { type Exchange, sendJson } from '../../gateway/exchange.ts';
import { Fault } from '../contract/fault.ts';
import type { RestCaller } from './rest.ts';

/** Answers the liveness probe (interface, "Other"): 200, and 503 until the service admits callers. */
export function serveHealth(caller: RestCaller, exchange: Exchange): void {
  if (caller.started()) sendJson(exchange, 200, '{"status":"ok"}');
  else sendJson(exchange, 503, '{"status":"unavailable","detail":"The service is starting."}');
}

/** Answers the readiness probe: 503 with the missing component while the core cannot work. */
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
