import type { RequestListener, ServerResponse } from 'node:http';
import { type RunningServer, startServer } from '../api/rest/server.ts';
import { acceptRequest, type ConnectionLimits } from '../base/connections.ts';
import type { Log } from '../base/log.ts';
import { Fault } from '../contract/fault.ts';

/** Options for openOpsPort(). */
export interface OpsPortOptions {
  host: string;
  port: number;
  limits: ConnectionLimits;
  log: Log;
  /** Responds to /metrics. */
  scrape: RequestListener;
  /** Resolves when the process can work; rejects with `unavailable` and the missing component. */
  ready(): Promise<void>;
}

/** Serves the operations port: metrics and probes, for every role, without authentication. */
export function openOpsPort(options: OpsPortOptions): Promise<RunningServer> {
  const { host, port, limits, scrape } = options;
  const paths: Record<string, RequestListener> = {
    '/metrics': scrape,
    '/health': (_request, response) => send(response, 200, { status: 'ok' }),
    '/ready': (_request, response) => void sendReady(options, response),
  };
  const listener: RequestListener = (request, response) => {
    acceptRequest(request);
    // A URL parser throws for some targets, such as `//`.
    const serve = paths[request.url!.split('?', 1)[0]!];
    if (serve === undefined) send(response, 404, { detail: 'Not Found', code: 'not_found' });
    else if (request.method === 'GET' || request.method === 'HEAD') serve(request, response);
    else {
      response.setHeader('allow', 'GET, HEAD');
      send(response, 405, { detail: 'Method Not Allowed', code: 'method_not_allowed' });
    }
  };
  return startServer(listener, port, host, limits);
}

async function sendReady({ ready, log }: OpsPortOptions, response: ServerResponse): Promise<void> {
  try {
    await ready();
    send(response, 200, { status: 'ready' });
  } catch (error) {
    const fault = Fault.from(error);
    log.warn({ err: fault }, 'not ready');
    const detail = fault.code === 'internal' ? 'The readiness check failed' : fault.clientMessage;
    send(response, 503, { status: 'unavailable', detail });
  }
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
