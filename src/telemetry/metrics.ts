import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { DescMethod } from '@bufbuild/protobuf';
import { parseWaited, timingHeader } from '../contract/response-headers.ts';
import { attribute } from './attributes.ts';
import type {
  CounterLabels,
  CounterName,
  DistributionName,
  GaugeLabels,
  GaugeName,
  RequestProtocol,
  RequestResult,
} from './catalog.ts';
import { recordedSpan } from './trace.ts';

/** Labels of a series by name. Labels that do not apply are absent. */
export type Labels = Readonly<Record<string, string | number>>;

/** Sum of a counter for one combination of labels. */
export interface CounterSeries {
  name: CounterName;
  labels: Labels;
  value: number;
}

/** Distribution of durations for one combination of labels. */
export interface DistributionSeries {
  name: DistributionName;
  labels: Labels;
  /** Number of values in each bucket. The last one has the values above the highest bound. */
  counts: number[];
  /** Sum of the values in milliseconds. */
  sumMs: number;
}

/** Measurements of a process. */
export interface MetricsReport {
  counters: CounterSeries[];
  distributions: DistributionSeries[];
}

/** Recorder of the metrics in the catalog. Its methods never throw or block. */
export interface Metrics {
  add<Name extends CounterName>(name: Name, labels: CounterLabels<Name>, value?: number): void;
  record(name: DistributionName, milliseconds: number, labels?: Labels): void;
  /** Adds the measurements of a worker process. */
  addReport(report: MetricsReport): void;
}

export interface Sample<Name extends GaugeName> {
  labels: GaugeLabels<Name>;
  value: number;
}

/** Functions that read gauges. A gauge whose function rejects has no value in that collection. */
export type GaugeReaders = {
  [Name in GaugeName]?: () => Promise<readonly Sample<Name>[]>;
};

/** Recorder for processes without telemetry. */
export const noMetrics: Metrics = { add() {}, record() {}, addReport() {} };

type Request = IncomingMessage | Http2ServerRequest;
type Response = ServerResponse | Http2ServerResponse;

/**
 * Returns the name of a method as in the path of a call:
 * "gleaner.account.v1.AccountService/GetAccount".
 */
export const methodPath = (method: DescMethod): string =>
  `${method.parent.typeName}/${method.name}`;

/** A call of an RPC server. */
export interface MeasuredCall {
  /** Full name of a declared method: "gleaner.account.v1.AccountService/GetAccount". */
  method: string;
  system: string;
  /** Returns the name of the status once the response is closed: "NOT_FOUND". */
  status(): string;
}

/** Value of a label for anything that is not declared, so that callers cannot create series. */
const other = '_OTHER';

/** Methods of HTTP that are values of labels and names of spans. */
const verbs = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Returns the method of a request, or `_OTHER` for unknown ones. */
export const verbOf = ({ method }: Request): string => (verbs.has(method!) ? method! : other);

/** Statuses that OpenTelemetry counts as server errors. */
export const serverErrors: ReadonlySet<string> = new Set([
  'UNKNOWN',
  'DEADLINE_EXCEEDED',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
]);

/**
 * Observation of a request, stored on the request: a WeakMap of requests costs too much garbage
 * collection.
 */
const observation = Symbol('observation');
interface Observation {
  route: string;
  call: MeasuredCall | null;
}
type Observed = { [observation]?: Observation };

/** Names the route of a request and its active span: a path template, never a path. */
export function nameRoute(request: Request, route: string): void {
  const observed = (request as Observed)[observation];
  if (observed) observed.route = route;
  recordedSpan()?.setAttribute(attribute.httpRoute, route).updateName(`${request.method} ${route}`);
}

/** Describes the RPC call of a measured request, which is then not measured as an HTTP request. */
export function nameCall(request: Request, call: MeasuredCall): void {
  const observed = (request as Observed)[observation];
  if (observed) observed.call = call;
}

/** Measurements of the requests that a process serves. */
export interface RequestMetrics {
  /**
   * Wraps the listener of a port so that each request is counted and its duration recorded once its
   * response is closed.
   */
  measure<Q extends Request, S extends Response>(
    listener: (request: Q, response: S) => void,
  ): (request: Q, response: S) => void;
}

function rpcResult(code: string): RequestResult {
  if (code === 'OK') return 'ok';
  return serverErrors.has(code) ? 'server_error' : 'client_error';
}

function httpResult(status: number): RequestResult {
  if (status >= 500) return 'server_error';
  return status >= 400 ? 'client_error' : 'ok';
}

/** Creates the measurements with a recorder. */
export function createRequestMetrics({ add, record }: Metrics): RequestMetrics {
  const count = (protocol: RequestProtocol, result: RequestResult) =>
    add('gleaner_requests_total', { protocol, result });

  const recordCall = ({ method, system, status }: MeasuredCall, milliseconds: number) => {
    const code = status();
    record('rpc.server.call.duration', milliseconds, {
      [attribute.rpcSystem]: system,
      [attribute.rpcMethod]: method,
      [attribute.rpcStatus]: code,
    });
    count('rpc', rpcResult(code));
  };
  const recordRequest = (verb: string, route: string, response: Response, milliseconds: number) => {
    const isAborted = !isComplete(response);
    const { statusCode: status } = response;
    record('http.server.request.duration', milliseconds, {
      [attribute.httpMethod]: verb,
      [attribute.httpRoute]: route,
      ...(isAborted ? { [attribute.errorType]: 'aborted' } : { [attribute.httpStatus]: status }),
    });
    count('http', isAborted ? 'client_error' : httpResult(status));
  };
  return {
    measure: (listener) => (request, response) => {
      const started = performance.now();
      const observed: Observation = { route: other, call: null };
      (request as Observed)[observation] = observed;
      const verb = verbOf(request);
      response.once('close', () => {
        const waitedMs = parseWaited(String(response.getHeader(timingHeader) ?? ''));
        const milliseconds = Math.max(0, performance.now() - started - waitedMs);
        if (observed.call) recordCall(observed.call, milliseconds);
        else recordRequest(verb, observed.route, response, milliseconds);
      });
      listener(request, response);
    },
  };
}

/** Returns true if a closed response was sent to its end. */
export function isComplete(response: Response): boolean {
  if (!('stream' in response)) return response.writableFinished;
  // A stream that its client resets is finished, too.
  return response.writableEnded && response.stream.writableFinished;
}
