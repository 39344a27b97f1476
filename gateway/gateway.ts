import type { RequestListener } from 'node:http';
import type { DescService } from '@bufbuild/protobuf';
import express, { type ErrorRequestHandler, type RequestHandler } from 'express';
import type { BodyBudget } from '../src/base/body-budget.ts';
import type { Clock } from '../src/base/clock.ts';
import type { Log } from '../src/base/log.ts';
import { Fault } from '../src/contract/fault.ts';
import { quote } from '../src/contract/problems.ts';
import { type CacheLengths, createAnswerCache } from './answer/answer-cache.ts';
import { locatorOf } from './answer/location.ts';
import type { Caller } from './caller.ts';
import { type Endpoint, endpointsOf, formsOf } from './endpoint.ts';
import { answerFault, answerJson, beginExchange, type Exchange } from './exchange.ts';
import { type FileReader, serveFile, type VerifyLink } from './files/files.ts';
import { serveHealth, serveReady } from './health.ts';
import { serveDocs, serveDocsFile } from './openapi/docs.ts';
import { parse, type Template } from './paths/parse.ts';
import { createTrie } from './paths/trie.ts';
import { endpointServer } from './transcode.ts';

/** What a gateway is made of. */
export interface GatewayOptions {
  /** Services whose methods with a google.api.http option get routes. */
  services: readonly DescService[];
  caller: Caller;
  files: FileReader;
  verifyLink: VerifyLink;
  log: Log;
  clock: Clock;
  /** What addresses of this service start with, for the OpenAPI document. */
  publicUrl: () => string;
  /** Version of the program, for the OpenAPI document. */
  version: string;
  /** Served before the 404: Connect for browsers, the console. */
  mounts?: readonly RequestHandler[];
  /** Memory for request bodies, shared with the other edges of the process. */
  budget: BodyBudget;
  /** Lengths of the retrieve cache; null: off. */
  retrieveCache?: CacheLengths | null;
}

interface Route {
  /** Names the route in the access log. */
  name: string;
  serve(exchange: Exchange, segments: readonly string[]): Promise<void> | void;
}

/**
 * Makes the REST edge: every route follows from the descriptors. Throws an Error that names the
 * declaration when two methods share a path or one can't be served.
 */
export function createGateway(options: GatewayOptions): RequestListener {
  const { caller, clock, log } = options;
  const routes = createTrie<Route>();
  const endpoints = endpointsOf(options.services);
  addEndpoints(endpoints, options, (verb, template, route) => routes.insert(verb, template, route));
  const add = (path: string, serve: Route['serve']) => {
    for (const form of formsOf(path)) routes.insert('GET', parse(form), { name: path, serve });
  };
  add('/health', (exchange) => serveHealth(caller, exchange));
  add('/ready', (exchange) => serveReady(caller, exchange));
  add('/files/{job_id}/{name}', (exchange) => serveFile(options, exchange));
  add('/openapi.json', async (exchange) => {
    answerJson(exchange, 200, await openApi(endpoints, options));
  });
  add('/docs', serveDocs);
  add('/docs/{name}', (exchange, segments) => serveDocsFile(exchange, segments.at(-1)!));

  const notFound: RequestHandler = (request) => {
    throw new Fault('not_found', `No such path: ${quote(request.path)}`);
  };
  const failed: ErrorRequestHandler = (error, _request, response, _next) => {
    answerFault(response.locals.exchange as Exchange, error);
  };
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use(...(options.mounts ?? []), notFound, failed);

  // Declared routes are served without Express, whose handling of a request costs as much as the rest of the gateway.
  return (request, response) => {
    const exchange = beginExchange(request, response, log, clock);
    const segments = segmentsOf(request.url!);
    if (segments === undefined)
      return answerFault(exchange, new Fault('malformed', 'The path is not percent-encoded UTF-8'));
    const found = routes.find(segments, request.method === 'HEAD' ? 'GET' : request.method!);
    if (found !== undefined) {
      exchange.route = found.name;
      void serve(found, exchange, segments);
      return;
    }
    const methods = routes.methods(segments);
    if (methods.length > 0) return answerMethods(exchange, methods);
    // A property: a WeakMap of requests costs the garbage collector more than all else that a call does.
    Object.assign(response, { locals: { exchange } });
    app(request, response);
  };
}

/** The OpenAPI document as JSON. What only it needs, the comments of the contract above all, is loaded when asked for. */
async function openApi(
  endpoints: readonly Endpoint[],
  { publicUrl, version }: GatewayOptions,
): Promise<string> {
  const [{ openApiDocument }, { comments }] = await Promise.all([
    import('./openapi/openapi.ts'),
    import('../gen/comments.ts'),
  ]);
  return JSON.stringify(openApiDocument({ endpoints, publicUrl: publicUrl(), version, comments }));
}

function addEndpoints(
  endpoints: readonly Endpoint[],
  options: GatewayOptions,
  insert: (verb: string, template: Template, route: Route) => void,
): void {
  const { caller, clock, retrieveCache, budget } = options;
  const serving = {
    caller,
    budget,
    cache: retrieveCache == null ? undefined : createAnswerCache(retrieveCache, clock),
  };
  for (const endpoint of endpoints) {
    const serveEndpoint = endpointServer(endpoint, { ...serving, locate: locatorOf(endpoint, endpoints) });
    for (const [form, { template }] of endpoint.forms.entries()) {
      insert(endpoint.verb, template, {
        name: endpoint.path,
        serve: (exchange, segments) =>
          serveEndpoint(exchange, withoutVerb(segments, template), template.variables, form),
      });
    }
  }
}

function withoutVerb(segments: readonly string[], { verb }: Template): readonly string[] {
  return verb === '' ? segments : segments.with(-1, segments.at(-1)!.slice(0, -verb.length - 1));
}

async function serve(route: Route, exchange: Exchange, segments: readonly string[]): Promise<void> {
  try {
    await route.serve(exchange, segments);
  } catch (error) {
    answerFault(exchange, error);
  }
}

/** OPTIONS says which methods a path has; any other method gets a 405 that says so. */
function answerMethods(exchange: Exchange, methods: readonly string[]): void {
  const { request, response } = exchange;
  const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ');
  response.setHeader('allow', allow);
  if (request.method === 'OPTIONS') response.writeHead(204).end();
  else
    answerJson(
      exchange,
      405,
      JSON.stringify({ detail: `The path has no ${request.method}: it has ${allow}` }),
    );
}

/** Segments of a URL's path, percent-decoded; undefined where that fails. */
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
