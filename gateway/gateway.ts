import type { IncomingMessage, RequestListener } from 'node:http';
import type { DescField, DescService } from '@bufbuild/protobuf';
import express, { type ErrorRequestHandler, type RequestHandler } from 'express';
import { createBodyBudget } from '../src/contract/body-budget.ts';
import type { Caller, GatewayBudget, GatewayClock, GatewayLog } from '../src/contract/caller.ts';
import { Fault } from '../src/contract/fault.ts';
import { quote } from '../src/contract/problem-texts.ts';
import { questionOf } from '../src/contract/suggest.ts';
import { type PathForms, type ServedEndpoint, servedEndpoints } from './endpoint.ts';
import type { ApiInfo } from './openapi/document-options.ts';
import type { Schema } from './openapi/schemas.ts';
import { nearestPaths } from './paths/nearest-path.ts';
import { parse, type Template } from './paths/parse.ts';
import { createTrie } from './paths/trie.ts';
import {
  beginExchange,
  type Exchange,
  sendFault,
  sendMethods,
  setHeaders,
} from './request-context.ts';
import { createLocator, type Locate, type ShownBy, shownByService } from './response/location.ts';
import { createPublicContent, keepContent, sendPublicContent } from './response/public-content.ts';
import { createResponseCache, type RetentionPolicy } from './response/response-cache.ts';
import { endpointServer, type OnLongRequest, type Serve, type Serving } from './serve-endpoint.ts';

/** GET path that no service declares. */
export interface ExtraPath {
  /** Path template, served under the same forms as the services' paths. */
  path: string;
  /**
   * Serves a request, given the segments of its path, percent-decoded. Thrown errors become error
   * responses.
   */
  serve(exchange: Exchange, segments: readonly string[]): Promise<void> | void;
  /** OpenAPI operation; undocumented without one. */
  operation?: Schema;
}

export interface GatewayOptions {
  /** Services whose methods with a google.api.http option are served. */
  services: readonly DescService[];
  caller: Caller;
  /** Default: no log. */
  log?: GatewayLog;
  clock?: GatewayClock;
  /** Memory for large request bodies. Default: 256 MB. */
  budget?: GatewayBudget;
  /**
   * Returns the base address of the service, which may be known late. Default: `/`. The documents
   * are built once per address.
   */
  publicUrl?: () => string;
  /** Loads the texts of the OpenAPI document. Default: the names of the services. */
  loadApi?: () => Promise<Omit<ApiInfo, 'publicUrl'>>;
  /** Paths that a declared path is served under. Default: the path itself. */
  pathForms?: PathForms;
  /**
   * Paths of the OpenAPI documents, one per path form. Default: one document at `/openapi.json`.
   */
  documents?: readonly string[];
  extraPaths?: readonly ExtraPath[];
  /** Handlers of other paths, before the 404. */
  mounts?: readonly RequestHandler[];
  /** Retention of responses of methods with the option `cached`. Default: no cache. */
  retention?: RetentionPolicy | undefined;
  /** Finds the endpoint for `Location` headers. Default: the first fitting one of the service. */
  shownBy?: ShownBy;
  /**
   * Fields that differ between responses while nothing changes, such as signed links. Default:
   * none.
   */
  isVolatile?: (field: DescField) => boolean;
  /** Called with a request and its path template, before it is served. */
  onRouted?: ((request: IncomingMessage, route: string) => void) | undefined;
  /** Called with a request whose caller is authenticated, before its body is read. */
  onAuthenticated?: (request: IncomingMessage, userId: string) => void;
  /**
   * Called with a request that waits or streams, before its call. Resolves with a signal that ends
   * the wait early. Rejects with a fault if too many are in progress.
   */
  onLongRequest?: OnLongRequest;
}

const noLog: GatewayLog = { info() {}, warn() {}, error() {} };

const defaultBudgetBytes = 256 * 1024 * 1024;

/** Returns the texts of the document of services that have none. */
function namesOf(services: readonly DescService[]): Omit<ApiInfo, 'publicUrl'> {
  const title = services.map(({ name }) => name).join(', ');
  return { title, version: '0', description: `REST interface of ${title}.`, comments: {} };
}

interface Route {
  /** Names the route in the access log. */
  name: string;
  serve(exchange: Exchange, segments: readonly string[]): Promise<void> | void;
}

/**
 * Creates the handler that serves the services as REST, with every route derived from the
 * descriptors. Throws an Error that names the declaration when two methods share a path or one
 * cannot be served.
 */
export function createGateway(options: GatewayOptions): RequestListener {
  const {
    clock = { now: Date.now },
    log = noLog,
    budget = createBodyBudget({ totalBytes: defaultBudgetBytes, userBytes: defaultBudgetBytes }),
    publicUrl = () => '/',
    loadApi = async () => namesOf(options.services),
    pathForms = (path) => [path],
    extraPaths = [],
    isVolatile = () => false,
    onRouted,
  } = options;
  const routes = createTrie<Route>();
  const endpoints = servedEndpoints(options.services, pathForms);
  const locators = new Map(
    endpoints.map((endpoint) => [
      endpoint,
      createLocator(endpoint, endpoints, options.shownBy ?? shownByService, publicUrl),
    ]),
  );
  const isLocated = (endpoint: ServedEndpoint) => locators.get(endpoint) !== undefined;
  addEndpoints(locators, { ...options, clock, budget, isVolatile }, (verb, template, route) =>
    routes.insert(verb, template, route),
  );
  // The code and texts of the documents are large and loaded on demand.
  const documentation = (options.documents ?? ['/openapi.json']).map((path, form): ExtraPath => {
    const content = keepContent(publicUrl, async () => {
      const [api, { openApiDocument }] = await Promise.all([
        loadApi(),
        import('./openapi/openapi.ts'),
      ]);
      const document = {
        ...api,
        publicUrl,
        endpoints,
        pathForms,
        form,
        extraPaths,
        isLocated,
        isVolatile,
      };
      return createPublicContent(
        'application/json',
        JSON.stringify(await openApiDocument(document)),
      );
    });
    return { path, serve: async (exchange) => sendPublicContent(exchange, await content()) };
  });
  for (const { path, serve } of [...extraPaths, ...documentation])
    for (const form of pathForms(path))
      routes.insert('GET', parse(form), {
        name: path,
        serve: (exchange, segments) => {
          setHeaders(exchange);
          return serve(exchange, segments);
        },
      });

  const documentedPaths = [
    ...endpoints.flatMap(({ forms }) => forms),
    ...extraPaths
      .filter(({ operation }) => operation !== undefined)
      .flatMap(({ path }) => pathForms(path))
      .map((path) => ({ path, template: parse(path) })),
  ];
  const notFound: RequestHandler = (request) => {
    const nearest = nearestPaths(segmentsOf(request.originalUrl) ?? [], documentedPaths);
    const hint = nearest.length === 0 ? '' : `. ${questionOf(nearest)}`;
    throw new Fault('not_found', `No such path: ${quote(request.path)}${hint}`);
  };
  const failed: ErrorRequestHandler = (error, _request, response, _next) => {
    sendFault(response.locals.exchange as Exchange, error);
  };
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use(...(options.mounts ?? []), notFound, failed);

  // Declared routes are served without Express, which costs as much per request as the rest of the
  // gateway.
  return (request, response) => {
    const exchange = beginExchange(request, response, log, clock);
    const segments = segmentsOf(request.url!);
    if (segments === undefined)
      return sendFault(exchange, new Fault('malformed', 'The path is not percent-encoded UTF-8'));
    const found =
      routes.find(segments, request.method!) ??
      (request.method === 'HEAD' ? routes.find(segments, 'GET') : undefined);
    if (found !== undefined) {
      exchange.route = found.name;
      onRouted?.(request, found.name);
      void serve(found, exchange, segments);
      return;
    }
    const methods = routes.methods(segments);
    if (methods.length > 0) return sendMethods(exchange, methods);
    // A property: a WeakMap of requests costs more garbage collection than the rest of a call.
    Object.assign(setHeaders(exchange), { locals: { exchange } });
    app(request, response);
  };
}

function addEndpoints(
  endpoints: ReadonlyMap<ServedEndpoint, Locate | undefined>,
  options: GatewayOptions & Pick<Serving, 'isVolatile' | 'budget'> & { clock: GatewayClock },
  insert: (verb: string, template: Template, route: Route) => void,
): void {
  const { caller, clock, budget, retention, isVolatile } = options;
  const serving = {
    caller,
    budget,
    cache: retention && createResponseCache(retention, clock),
    isVolatile,
    onAuthenticated: options.onAuthenticated ?? (() => {}),
    onLongRequest: options.onLongRequest ?? (() => undefined),
  };
  for (const [endpoint, locate] of endpoints) {
    // Created by the first request: creating all of them takes a tenth of the start of a service.
    let created: Serve | undefined;
    const serveEndpoint: Serve = (...rest) => {
      created ??= serverOf(endpoint, { ...serving, locate });
      return created(...rest);
    };
    for (const [form, { template }] of endpoint.forms.entries()) {
      insert(endpoint.verb, template, {
        name: endpoint.path,
        serve: (exchange, segments) =>
          serveEndpoint(exchange, withoutVerb(segments, template), template.variables, form),
      });
    }
  }
}

/** Parameters that only an endpoint that exports has. */
const exportParams = ['format', 'only', 'columns', 'provenance'];

/**
 * Creates the handler of an endpoint and, for requests whose query has one of `exportParams`, of
 * the one that exports.
 */
function serverOf(endpoint: ServedEndpoint, serving: Serving): Serve {
  const serve = endpointServer(endpoint, serving);
  if (endpoint.exported === null) return serve;
  // The path of `endpoint` makes no parameter of the other one required.
  const serveExport = endpointServer({ ...endpoint.exported, requiredParameters: [] }, serving);
  return (exchange, ...rest) => {
    const url = exchange.request.url!;
    const params = url.includes('?') ? new URLSearchParams(url.slice(url.indexOf('?') + 1)) : null;
    const isExport = params !== null && exportParams.some((name) => params.has(name));
    return isExport ? serveExport(exchange, ...rest) : serve(exchange, ...rest);
  };
}

function withoutVerb(segments: readonly string[], { verb }: Template): readonly string[] {
  if (verb === '') return segments;
  const last = segments.at(-1)!;
  return segments.with(-1, last.slice(0, -verb.length - 1));
}

async function serve(route: Route, exchange: Exchange, segments: readonly string[]): Promise<void> {
  try {
    await route.serve(exchange, segments);
  } catch (error) {
    sendFault(exchange, error);
  }
}

/** Returns the segments of a URL's path, percent-decoded, or undefined if that fails. */
function segmentsOf(url: string): string[] | undefined {
  const start = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('//') + 2);
  const query = url.indexOf('?');
  const segments = url.slice(start + 1, query < 0 ? undefined : query).split('/');
  if (!url.includes('%')) return segments;
  try {
    return segments.map(decodeURIComponent);
  } catch {
    return undefined;
  }
}
