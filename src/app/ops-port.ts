import type { RequestListener, ServerResponse } from 'node:http';
import { type RunningServer, startServer } from '../api/rest/server.ts';
import { acceptRequest, type ConnectionLimits } from '../base/connections.ts';
import type { Log } from '../base/log.ts';
import { Fault } from '../contract/fault.ts';

export type PortSetting = 'GLEANER_HTTP_PORT' | 'GLEANER_GRPC_PORT' | 'GLEANER_OPS_PORT';

/** Returns why a port cannot be opened, by the code of the system's error, and the remedy. */
export function describeListenError(
  code: string,
  host: string,
  port: number,
  setting: PortSetting,
): { message: string; remedy: string } {
  if (code === 'EADDRINUSE')
    return {
      message: `${port} is in use`,
      remedy: `Stop the other program, or set ${setting} to a free port.`,
    };
  return {
    message: `${host}:${port} cannot be opened (${code})`,
    remedy: `Change ${setting} or GLEANER_HOST.`,
  };
}

/**
 * Waits for a server to listen. Throws `unavailable`, which names the setting, if the port cannot
 * be opened.
 */
export async function listening<T>(
  opened: Promise<T>,
  { host, port, setting }: { host: string; port: number; setting: PortSetting },
): Promise<T> {
  try {
    return await opened;
  } catch (thrown) {
    const { code, syscall } = thrown as NodeJS.ErrnoException;
    if (code === undefined || (syscall !== 'listen' && syscall !== 'getaddrinfo')) throw thrown;
    const { message, remedy } = describeListenError(code, host, port, setting);
    throw new Fault('unavailable', `${setting}=${port}: ${message}. ${remedy}`, { cause: thrown });
  }
}

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
