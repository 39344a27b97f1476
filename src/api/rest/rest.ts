import type { IncomingMessage, RequestListener } from 'node:http';
import { getOption } from '@bufbuild/protobuf';
import type { RequestHandler } from 'express';
import { createGateway, type ExtraPath, type GatewayOptions } from '../../../gateway/gateway.ts';
import { type Exchange, sendJson } from '../../../gateway/request-context.ts';
import {
  basePathOf,
  type ShownBy,
  shownByService,
  variableIn,
} from '../../../gateway/response/location.ts';
import {
  createPublicContent,
  keepContent,
  type PublicContent,
  sendPublicContent,
} from '../../../gateway/response/public-content.ts';
import type { CacheRetention, RetentionPolicy } from '../../../gateway/response/response-cache.ts';
import { job as jobOption, Step } from '../../../gen/gleaner/options/v1/options_pb.ts';
import type { Clock } from '../../base/clock.ts';
import { acceptRequest, beginLongRequest } from '../../base/connections.ts';
import type { Log } from '../../base/log.ts';
import type { BodyBudget } from '../../contract/body-budget.ts';
import type { Caller } from '../../contract/caller.ts';
import { Fault } from '../../contract/fault.ts';
import { allowOrigins } from './cors.ts';
import { createDocs, createDocsGuide, createInteractiveDocs } from './docs.ts';
import { type FileServing, serveFile } from './files.ts';
import { applySessionCookie, type SessionCaller, serveSession } from './session.ts';
import { systemOperations } from './system-paths.ts';

export interface CoreState {
  /** True once the core admits callers; always true for a remote core, whose process reports it. */
  started(): boolean;
  /** Resolves when the core can work; rejects with `unavailable` and the missing component. */
  ready(): Promise<void>;
}

/** Responds to the liveness probe: 200, or 503 until the service admits callers. */
function serveHealth(core: CoreState, exchange: Exchange): void {
  if (core.started()) sendJson(exchange, 200, '{"status":"ok"}');
  else sendJson(exchange, 503, '{"status":"unavailable","detail":"The service is starting."}');
}

/** Responds to the readiness probe: 200, or 503 with the missing component. */
async function serveReady(core: CoreState, exchange: Exchange): Promise<void> {
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

/** Pictures of records, shown to browsers by this service. */
export interface ImageServing {
  /** Returns the address of a signed path. Throws `link_invalid`. */
  verify(path: string): string;
  /** Returns the picture at an address. Rejects with a Fault if there is none. */
  fetch(url: string, signal: AbortSignal): Promise<{ contentType: string; bytes: Uint8Array }>;
}

/**
 * Serves a picture by a signed path, with headers that make browsers treat it only as a picture.
 * Throws `not_found` if the site does not send a picture, or the service shows none.
 */
async function serveImage(images: ImageServing | undefined, exchange: Exchange): Promise<void> {
  const { request, response, signal } = exchange;
  if (images === undefined) throw new Fault('not_found', 'This service shows no pictures.');
  const url = images.verify(request.url!);
  const { contentType, bytes } = await images.fetch(url, signal).catch((error: unknown) => {
    throw new Fault('not_found', 'There is no picture at this address.', { cause: error });
  });
  response.writeHead(200, {
    'content-type': contentType,
    'content-length': bytes.length,
    'cache-control': 'private, max-age=86400',
    'content-security-policy': "default-src 'none'; sandbox",
    'cross-origin-resource-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
  });
  response.end(request.method === 'HEAD' ? undefined : bytes);
}

/** Retention of cached retrieve responses, in milliseconds: see docs/scaling.md. */
export interface RetrieveCache {
  processingMs: number;
  completedMs: number;
}

/**
 * Returns the retention of retrieve responses: by their status, and by whether the result file is
 * available.
 */
export function retrieveRetention({ processingMs, completedMs }: RetrieveCache): RetentionPolicy {
  return (schema) => {
    if (schema.field.status === undefined)
      throw new Error(`${schema}: a cached response needs a status`);
    const file = schema.fields.find((field) => field.name === 'download_url');
    return (message): CacheRetention => {
      const values = message as unknown as Record<string, unknown>;
      // A job ends before its file is available: such a response must not be cached for a day.
      const isFinal =
        values.status !== 'processing' &&
        (file === undefined || values[file.localName] !== undefined);
      return { ms: isFinal ? completedMs : processingMs, isFinal };
    };
  };
}

/**
 * Finds the endpoint that shows a submitted job: the first read method of the same kind on the same
 * market.
 */
export const shownByKind: ShownBy = (endpoint, endpoints) => {
  const { kind } = getOption(endpoint.method, jobOption);
  if (kind === '') return shownByService(endpoint, endpoints);
  return endpoints.find((readEndpoint) => {
    const option = getOption(readEndpoint.method, jobOption);
    return (
      option.kind === kind &&
      option.step === Step.READ &&
      readEndpoint.method.parent === endpoint.method.parent &&
      variableIn(readEndpoint, endpoint) !== undefined
    );
  });
};

export interface RestCaller extends Caller, SessionCaller, CoreState {}

/** Returns the directory of the keys that sign requests to sites, or null if none are signed. */
export type KeyDirectory = () => Promise<{ headers: Record<string, string>; body: string } | null>;

/** Options of createRestApi(). */
export interface RestOptions
  extends FileServing,
    Pick<GatewayOptions, 'services' | 'mounts' | 'onRouted'> {
  caller: RestCaller;
  keyDirectory?: KeyDirectory | undefined;
  /** Pictures of records. Absent if the service shows none. */
  images?: ImageServing | undefined;
  log: Log;
  clock: Clock;
  /** Returns the base address of the service. */
  publicUrl: () => string;
  /** Memory for request bodies, shared with the other edges of the process. */
  budget: BodyBudget;
  /** TTLs of cached retrieve responses. Null disables the cache. */
  retrieveCache?: RetrieveCache | null;
  /** Origins whose pages may call the API, see allowOrigins(). Default: none. */
  corsOrigins?: readonly string[];
}

/** Returns both address forms of a path: with /v1 and without. */
export function addressForms(path: string): string[] {
  const short = path.replace(/^\/v1(?=\/|$)/, '');
  return [`/v1${short}`, short];
}

/** Returns the OpenAPI document of the operators' calls. Its code is loaded on demand. */
async function operatorDocument({ publicUrl, version }: RestOptions): Promise<PublicContent> {
  const [{ operatorInfo }, { connectDocument }] = await Promise.all([
    import('./api-info.ts'),
    import('../../../gateway/openapi/connect-document.ts'),
  ]);
  const document = await connectDocument({ ...operatorInfo, publicUrl, version });
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
      serveMcp({
        caller,
        budget,
        clock,
        publicUrl,
        version,
        log,
        corsOrigins,
      }),
    );
    return (await serving)(request, response, next);
  };
}

/**
 * Serves the directory of keys, unencoded: its signatures cover the digest of the content. Throws
 * `not_found`.
 */
async function serveKeyDirectory(
  { keyDirectory }: RestOptions,
  { request, response }: Exchange,
): Promise<void> {
  const directory = await keyDirectory?.();
  if (!directory)
    throw new Fault(
      'not_found',
      'This service signs no requests: GLEANER_PUBLIC_URL is not an https address.',
    );
  response.writeHead(200, { ...directory.headers, 'cache-control': 'public, max-age=3600' });
  response.end(request.method === 'HEAD' ? undefined : directory.body);
}

const keyDirectoryPath = '/.well-known/http-message-signatures-directory';

/** Routes of the mounts other than RPC. */
const mountRoutes = ['/mcp', '/console/session', '/console'];

function nameMounts({ onRouted }: RestOptions): RequestHandler {
  return (request, _response, next) => {
    const { path } = request;
    const route = mountRoutes.find((name) => path === name || path.startsWith(`${name}/`));
    if (route !== undefined) onRouted?.(request, route);
    next();
  };
}

/**
 * Creates basePathOf() for addresses that hardly ever change: parsing one for each request takes a
 * thirtieth of the time of the gateway (`npm run bench -- retrieve`).
 */
function createBasePath(): typeof basePathOf {
  let parsed = '';
  let basePath = '';
  return (address) => {
    if (address !== parsed) basePath = basePathOf(address);
    parsed = address;
    return basePath;
  };
}

/**
 * Removes the path of the public address, which a proxy may pass on, from the path of a request.
 */
function removePrefix(request: IncomingMessage, basePath: string): void {
  const { url = '' } = request;
  const next = url[basePath.length];
  if (
    basePath === '' ||
    !url.startsWith(basePath) ||
    (next !== '/' && next !== '?' && next !== undefined)
  )
    return;
  const rest = url.slice(basePath.length);
  request.url = rest.startsWith('/') ? rest : `/${rest}`;
}

/** Path of an RPC, or of the tools for agents, in the form with /v1. */
const versionedMount = /^\/v1(?=\/(?:mcp|(?:[a-z0-9]+\.)+\w+\/\w+)(?:\?|$))/;

/** Removes /v1 from the paths of the mounts, which serve the form without it. */
function removeVersion(request: IncomingMessage): void {
  request.url = request.url?.replace(versionedMount, '');
}

/** Returns the paths that no proto declares. */
function pathsOfNoProto(options: RestOptions): readonly ExtraPath[] {
  const { caller, publicUrl } = options;
  const operatorContent = keepContent(publicUrl, () => operatorDocument(options));
  const basePath = () => basePathOf(publicUrl());
  const guide = createDocsGuide(basePath);
  const interactive = createInteractiveDocs(basePath);
  return [
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
    // For the sites that this service requests.
    { path: keyDirectoryPath, serve: (exchange) => serveKeyDirectory(options, exchange) },
    // Programs do not call the paths of pictures.
    { path: '/images', serve: (exchange) => serveImage(options.images, exchange) },
    {
      path: '/openapi-operator.json',
      serve: async (exchange) => sendPublicContent(exchange, await operatorContent()),
    },
    { path: '/docs', serve: createDocs(basePath) },
    { path: '/docs/guide', serve: guide },
    { path: '/docs/guide/{name}', serve: guide },
    { path: '/docs/guide/{folder}/{name}', serve: guide },
    {
      path: '/docs/{name}',
      serve: (exchange, segments) => interactive(exchange, segments.at(-1)!),
    },
  ];
}

/**
 * Creates the REST interface: the gateway over the services, and the paths that no proto declares.
 */
export function createRestApi(options: RestOptions): RequestListener {
  const { services, caller, log, clock, budget, publicUrl, mounts = [], retrieveCache } = options;
  const gateway = createGateway({
    services,
    caller,
    log,
    clock,
    budget,
    publicUrl,
    loadApi: async () => (await import('./api-info.ts')).apiInfo,
    pathForms: addressForms,
    documents: ['/openapi.json', '/openapi-short.json'],
    extraPaths: pathsOfNoProto(options),
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
    onLongRequest: beginLongRequest,
  });
  const basePath = createBasePath();
  return allowOrigins(options.corsOrigins ?? [], (request, response) => {
    const address = publicUrl();
    removePrefix(request, basePath(address));
    removeVersion(request);
    if (request.headers.cookie !== undefined) applySessionCookie(request, address);
    gateway(request, response);
  });
}
