import { Fault } from '../src/base/fault.ts';
import type { Caller } from './caller.ts';
import { answerJson, type Exchange } from './exchange.ts';

/** Answers the liveness probe: the process runs (interface, "Other"). */
export function serveHealth(exchange: Exchange): void {
  answerJson(exchange, 200, '{"status":"ok"}');
}

/** Answers the readiness probe: 503 with what is missing while the core can't work. */
export async function serveReady(caller: Caller, exchange: Exchange): Promise<void> {
  try {
    await caller.ready();
  } catch (error) {
    const fault = Fault.from(error);
    exchange.log.warn({ requestId: exchange.requestId, err: fault }, 'not ready');
    const detail = fault.code === 'internal' ? 'The readiness check failed' : fault.message;
    answerJson(exchange, 503, JSON.stringify({ status: 'unavailable', detail }));
    return;
  }
  answerJson(exchange, 200, '{"status":"ready"}');
}
