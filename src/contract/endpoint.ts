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
  /** Query parameters that a request to `path` must have, although the message may lack the fields. */
  requiredParameters: readonly string[];
  /** Method that serves requests whose query has `format`. Null if there is none. */
  withFormat: DescMethod | null;
}

/** Returns the endpoints of services. Throws an Error that names the method whose declaration is invalid. */
export function endpointsOf(services: readonly DescService[]): Endpoint[] {
  return services.flatMap((service) =>
    service.methods.map(endpointOf).filter((known) => known !== undefined),
  );
}

const derived = new WeakMap<DescMethod, Endpoint>();

/**
 * Returns the endpoint of a method, or undefined if there is no REST path. Throws an Error for an invalid
 * declaration.
 */
export function endpointOf(method: DescMethod): Endpoint | undefined {
  if (!hasOption(method, http)) return undefined;
  const known = derived.get(method) ?? derive(method);
  derived.set(method, known);
  return known;
}

function derive(method: DescMethod): Endpoint {
  const refuse = (why: string): never => {
    throw new Error(`${method}: ${why}`);
  };
  if (getOption(method.parent, access) !== Access.USER)
    refuse('a method with a REST path needs a service for users');
  const rule = getOption(method, http);
  const { pattern, body } = rule;
  const [verb, path] =
    pattern.case === 'custom'
      ? [pattern.value.kind, pattern.value.path]
      : [pattern.case?.toUpperCase() ?? refuse('google.api.http has no path'), pattern.value as string];
  if (rule.additionalBindings.length > 0) refuse('additional_bindings are not supported');
  if (rule.responseBody !== '') refuse('response_body is not supported');

  const streams = method.methodKind === 'server_streaming';
  if (!streams && method.methodKind !== 'unary')
    refuse('only unary and server-streaming methods have a REST form');
  if (streams !== (method.output.typeName === 'google.api.HttpBody'))
    refuse('google.api.HttpBody and streaming go together');

  const rest = getOption(method, restOption);
  if (rest.multipart && body !== '*') refuse('a multipart method needs body: "*"');
  if (rest.cached && (streams || verb !== 'GET')) refuse('only a GET that does not stream can be cached');
  if (body !== '' && body !== '*' && method.input.fields.every((field) => field.name !== body))
    refuse(`no field ${body} for the body`);
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
    withFormat:
      rest.withFormat === ''
        ? null
        : (method.parent.methods.find(({ name }) => name === rest.withFormat) ??
          refuse(`there is no method ${rest.withFormat}`)),
  };
}
