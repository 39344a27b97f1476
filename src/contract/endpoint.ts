import { type DescMethod, type DescService, getOption, hasOption } from '@bufbuild/protobuf';
import {
  Access,
  access,
  job as jobOption,
  rest as restOption,
  Step,
} from '../../gen/gleaner/options/v1/options_pb.ts';
import { http } from '../../gen/google/api/annotations_pb.ts';
import { maxBodyBytes } from './body-limit.ts';
import { takesSubmitOptions } from './submit-options.ts';
import { canAwaitOutcome, canWait } from './wait.ts';

/** REST form of a method, derived from its descriptor. */
export interface Endpoint {
  method: DescMethod;
  /** GET, POST, … */
  verb: string;
  /** Path template as declared: identifies the endpoint in logs and the OpenAPI document. */
  path: string;
  /** `*`, a proto field name, or empty: see google.api.http. */
  body: string;
  successStatus: number;
  /** The request body is multipart/form-data. */
  multipart: boolean;
  /** Maximum body, in bytes. */
  maxBodyBytes: number;
  cached: boolean;
  /** Accepts the query parameter `wait`. */
  waits: boolean;
  /** Creates a job. */
  isSubmit: boolean;
  /** Accepts an idempotency key, although no other method shows what it creates. */
  isRepeatable: boolean;
  /** Accepts the options of gleaner.job.v1.SubmitOptions as query parameters. */
  takesOptions: boolean;
  /** Documented error statuses. */
  errors: number[];
  workingHours: boolean;
  /** The response is a stream of bytes. */
  streams: boolean;
  /**
   * Query parameters that a request to `path` must have, although the message may lack the fields.
   */
  requiredParameters: readonly string[];
  /** Method that serves requests whose query has `format`. Null if there is none. */
  withFormat: DescMethod | null;
}

/**
 * Returns the endpoints of services. Throws an Error that names the method whose declaration is
 * invalid.
 */
export function endpointsOf(services: readonly DescService[]): Endpoint[] {
  return services.flatMap((service) =>
    service.methods.map(endpointOf).filter((endpoint) => endpoint !== undefined),
  );
}

const derived = new WeakMap<DescMethod, Endpoint>();

/**
 * Returns the endpoint of a method, or undefined if there is no REST path. Throws an Error for an
 * invalid declaration.
 */
export function endpointOf(method: DescMethod): Endpoint | undefined {
  if (!hasOption(method, http)) return undefined;
  const endpoint = derived.get(method) ?? derive(method);
  derived.set(method, endpoint);
  return endpoint;
}

function derive(method: DescMethod): Endpoint {
  if (getOption(method.parent, access) !== Access.USER)
    throw refusal(method, 'a method with a REST path needs a service for users');
  const streams = method.methodKind === 'server_streaming';
  if (!streams && method.methodKind !== 'unary')
    throw refusal(method, 'only unary and server-streaming methods have a REST form');
  if (streams !== (method.output.typeName === 'google.api.HttpBody'))
    throw refusal(method, 'google.api.HttpBody and streaming go together');

  const { verb, path, body } = httpRule(method);
  const rest = getOption(method, restOption);
  if (rest.multipart && body !== '*') throw refusal(method, 'a multipart method needs body: "*"');
  if (rest.cached && (streams || verb !== 'GET'))
    throw refusal(method, 'only a GET that does not stream can be cached');
  return {
    method,
    verb,
    path,
    body,
    successStatus: rest.successStatus || 200,
    multipart: rest.multipart,
    maxBodyBytes: maxBodyBytes(method),
    cached: rest.cached,
    waits: canWait(method) || canAwaitOutcome(method),
    isSubmit: getOption(method, jobOption).step === Step.SUBMIT,
    isRepeatable: rest.repeatable,
    takesOptions: takesSubmitOptions(method),
    errors: rest.errors,
    workingHours: rest.workingHours,
    streams,
    requiredParameters: rest.requiredParameters,
    withFormat: rest.withFormat === '' ? null : siblingOf(method, rest.withFormat),
  };
}

/**
 * Returns the rule of a method's REST path. Throws an Error for a form of rules that is not
 * supported.
 */
function httpRule(method: DescMethod): Pick<Endpoint, 'verb' | 'path' | 'body'> {
  const { pattern, body, additionalBindings, responseBody } = getOption(method, http);
  if (additionalBindings.length > 0) throw refusal(method, 'additional_bindings are not supported');
  if (responseBody !== '') throw refusal(method, 'response_body is not supported');
  if (body !== '' && body !== '*' && method.input.fields.every(({ name }) => name !== body))
    throw refusal(method, `no field ${body} for the body`);
  if (pattern.case === undefined) throw refusal(method, 'google.api.http has no path');
  if (pattern.case === 'custom')
    return { verb: pattern.value.kind, path: pattern.value.path, body };
  return { verb: pattern.case.toUpperCase(), path: pattern.value, body };
}

/** Returns another method of the same service. Throws an Error for an unknown one. */
function siblingOf(method: DescMethod, name: string): DescMethod {
  const sibling = method.parent.methods.find((candidate) => candidate.name === name);
  if (sibling === undefined) throw refusal(method, `there is no method ${name}`);
  return sibling;
}

const refusal = (method: DescMethod, reason: string): Error => new Error(`${method}: ${reason}`);
