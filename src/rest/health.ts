import { type Exchange, sendJson } from '../../gateway/exchange.ts';
import { Fault } from '../contract/fault.ts';

/** State of the core. */
export interface CoreState {
  /** True once the core admits callers; always true for a remote core, whose process reports it. */
  started(): boolean;
  /** Resolves when the core can work; rejects with `unavailable` and the missing component. */
  ready(): Promise<void>;
}

/** Responds to the liveness probe: 200, or 503 until the service admits callers. */
export function serveHealth(core: CoreState, exchange: Exchange): void {
  if (core.started()) sendJson(exchange, 200, '{"status":"ok"}');
  else sendJson(exchange, 503, '{"status":"unavailable","detail":"The service is starting."}');
}

/** Responds to the readiness probe: 200, or 503 with the missing component. */
export async function serveReady(core: CoreState, exchange: Exchange): Promise<void> {
  try {
    await core.ready();
  } catch (error) {
    const fault = Fault.from(error);
    exchange.log.warn({ requestId: exchange.requestId, err: fault }, 'not ready');
    const detail = fault.code === 'internal' ? 'The readiness check failed' : fault.clientMessage;
    sendJson(exchange, 503, JSON.stringify({ status: 'unavailable', detail }));
    return;
  }
  sendJson(exchange, 200, '{"status":"ready"}');
}
