import type { IncomingMessage, RequestListener } from 'node:http';
import type { DescService } from '@bufbuild/protobuf';
import type { RequestHandler } from 'express';
import type { Caller } from '../../gateway/caller.ts';
import { contractDialect } from '../../gateway/contract-dialect.ts';
import { createGateway } from '../../gateway/gateway.ts';
import {
  createPublicContent,
  keepContent,
  type PublicContent,
  sendPublicContent,
} from '../../gateway/response/public-content.ts';
import type { BodyBudget } from '../base/body-budget.ts';
import type { Clock } from '../base/clock.ts';
import { acceptRequest } from '../base/connections.ts';
import type { Log } from '../base/log.ts';
import { allowOrigins } from './cors.ts';
import { serveDocs, serveDocsFile } from './docs.ts';
import { type ExportFile, type FileReader, serveFile, type VerifyLink } from './files.ts';
import { type CoreState, serveHealth, serveReady } from './health.ts';
import { type ImageServing, serveImage } from './images.ts';
import { type RetrieveCache, retrieveRetention } from './retention.ts';
import { type SessionCaller, serveSession } from './session.ts';
import { applySessionCookie } from './session-cookie.ts';
import { shownByKind } from './shown-by.ts';
import { systemOperations } from './system-paths.ts';

/** Calls to the core, and its state. */
export interface RestCaller extends Caller, SessionCaller, CoreState {}

/** Options of createRestApi(). */
export interface RestOptions {
  services: readonly DescService[];
  caller: RestCaller;
  files: FileReader;
  verifyLink: VerifyLink;
  /** Formats the records of result files. */
  exportFile: ExportFile;
  /** Pictures of records; absent if the service shows none. */
  images?: ImageServing | undefined;
  log: Log;
  clock: Clock;
  /** Returns the base address of the service. */
  publicUrl: () => string;
  /** Version of the program. */
  version: string;
  /** Handlers of other paths: RPC for browsers, the console. */
  mounts?: readonly RequestHandler[];
  /** Memory for request bodies, shared with the other edges of the process. */
  budget: BodyBudget;
  /** Lengths of the retrieve cache; null: off. */
  retrieveCache?: RetrieveCache | null;
  /** Origins whose pages may call the API, see allowOrigins(); default: none. */
  corsOrigins?: readonly string[];
  /** Called with a request and its path template, before it is served. */
  onRouted?: ((request: IncomingMessage, route: string) => void) | undefined;
}

/** Returns both address forms of a path: with /v1 and without. */
export function addressForms(path: string): string[] {
  const short = path.replace(/^\/v1(?=\/|$)/, '');
  return [`/v1${short}`, short];
}

/** Returns the OpenAPI document of the operators' calls. Its code is loaded on demand, like that of the others. */
async function operatorDocument({ publicUrl, version }: RestOptions): Promise<PublicContent> {
  const [{ operatorInfo }, { connectDocument }] = await Promise.all([
    import('./api-info.ts'),
    import('../../gateway/openapi/connect-document.ts'),
  ]);
  const document = connectDocument({ ...operatorInfo, publicUrl, version });
  return createPublicContent('application/json', JSON.stringify(document));
}

/** Serves the tools for agents, whose code is loaded with the first request. */
function serveMcpOnDemand({
  caller,
  budget,
  clock,
  publicUrl,
  version,
  log,
  corsOrigins = [],
}: RestOptions): RequestHandler {
  let serving: Promise<RequestHandler> | undefined;
  return async (request, response, next) => {
    if (request.path !== '/mcp') return next();
    serving ??= import('./mcp.ts').then(({ serveMcp }) =>
      serveMcp({ caller, budget, clock, publicUrl, version, log, corsOrigins }),
    );
    return (await serving)(request, response, next);
  };
}

/** Routes of the mounts other than RPC. */
const mountRoutes = ['/mcp', '/console/session', '/console'];

/** Names the route of requests to mounts. */
function nameMounts({ onRouted }: RestOptions): RequestHandler {
  return (request, _response, next) => {
    const { path } = request;
    const route = mountRoutes.find((name) => path === name || path.startsWith(`${name}/`));
    if (route !== undefined) onRouted?.(request, route);
    next();
  };
}

/** Creates the REST interface: the gateway over the services, and the paths that no proto declares. */
export function createRestApi(options: RestOptions): RequestListener {
  const { services, caller, log, clock, budget, publicUrl, version, mounts = [], retrieveCache } = options;
  const operatorContent = keepContent(publicUrl, () => operatorDocument(options));
  const gateway = createGateway({
    dialect: contractDialect,
    services,
    caller,
    log,
    clock,
    budget,
    publicUrl,
    loadApi: async () => ({ ...(await import('./api-info.ts')).apiInfo, version }),
    pathForms: addressForms,
    documents: ['/openapi.json', '/openapi-short.json'],
    extraPaths: [
      {
        path: '/health',
        operation: systemOperations.health,
        serve: (exchange) => serveHealth(caller, exchange),
      },
      {
        path: '/ready',
        operation: systemOperations.ready,
        serve: (exchange) => serveReady(caller, exchange),
      },
      {
        path: '/files/{job_id}/{name}',
        operation: systemOperations.file,
        serve: (exchange) => serveFile(options, exchange),
      },
      // For the console: a picture is no part of a program's interface.
      { path: '/images', serve: (exchange) => serveImage(options.images, exchange) },
      {
        path: '/openapi-operator.json',
        serve: async (exchange) => sendPublicContent(exchange, await operatorContent()),
      },
      { path: '/docs', serve: serveDocs },
      { path: '/docs/{name}', serve: (exchange, segments) => serveDocsFile(exchange, segments.at(-1)!) },
    ],
    mounts: [
      nameMounts(options),
      serveSession({ caller, clock, publicUrl }),
      serveMcpOnDemand(options),
      ...mounts,
    ],
    retention: retrieveCache ? retrieveRetention(retrieveCache) : undefined,
    shownBy: shownByKind,
    // Links are signed for each response.
    isVolatile: ({ name }) => name === 'download_url' || name === 'records_url',
    onRouted: options.onRouted,
    onAuthenticated: acceptRequest,
  });
  return allowOrigins(options.corsOrigins ?? [], (request, response) => {
    applySessionCookie(request, publicUrl());
    gateway(request, response);
  });
}
