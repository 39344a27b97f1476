import { type DescMethod, type DescService, getOption, hasOption } from '@bufbuild/protobuf';
import { Access, access, rest as restOption } from '../gen/gleaner/options/v1/options_pb.ts';
import { http } from '../gen/google/api/annotations_pb.ts';
import { maxBodyBytes } from '../src/contract/body-limit.ts';
import { canWait } from '../src/contract/wait.ts';
import { parse, type Template } from './paths/parse.ts';

/** A method's REST form, derived from its descriptor. */
export interface Endpoint {
  method: DescMethod;
  /** GET, POST, … */
  verb: string;
  /** Path template as declared: what logs and the OpenAPI document name it by. */
  path: string;
  /** Both address forms: with /v1 and without (decisions, "two address forms"). */
  forms: { path: string; template: Template }[];
  /** `*`, a proto field name, or empty: see google.api.http. */
  body: string;
  successStatus: number;
  multipart: boolean;
  /** Maximum body, in bytes. */
  maxBodyBytes: number;
  cached: boolean;
  /** Takes `wait`. */
  waits: boolean;
  /** Error statuses that the interface documents. */
  errors: number[];
  workingHours: boolean;
  /** Streams its answer's bytes. */
  streams: boolean;
}

/** The endpoints of services. Throws an Error that names the method whose declaration is wrong. */
export function endpointsOf(services: readonly DescService[]): Endpoint[] {
  return services.flatMap((service) =>
    service.methods.filter((method) => hasOption(method, http)).map(endpointOf),
  );
}

function endpointOf(method: DescMethod): Endpoint {
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
    forms: formsOf(path).map((form) => ({ path: form, template: parse(form) })),
    body,
    successStatus: rest.successStatus || 200,
    multipart: rest.multipart,
    maxBodyBytes: maxBodyBytes(method),
    cached: rest.cached,
    waits: canWait(method),
    errors: rest.errors,
    workingHours: rest.workingHours,
    streams,
  };
}

/** A path with /v1 and without. */
export function formsOf(path: string): string[] {
  const short = path.replace(/^\/v1(?=\/)/, '');
  return [`/v1${short}`, short];
}
