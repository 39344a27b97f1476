import { create, type DescMethod, getOption, hasOption, type Message, ScalarType } from '@bufbuild/protobuf';
import { job as jobOption, rest as restOption, Step } from '../../gen/gleaner/options/v1/options_pb.ts';
import { http } from '../../gen/google/api/annotations_pb.ts';
import type { JsonObject } from '../base/json.ts';
import { bindingOf, restName } from '../contract/rest-form.ts';
import { fieldValue, toRest, toTexts } from './rest-json.ts';

/** How a method is called over HTTP, derived from its descriptor. */
export interface Endpoint {
  /** GET, POST, … */
  verb: string;
  /** Path template with `{field}` variables; of a method without a REST form, Connect's path. */
  path: string;
  /** Whether the method has no REST path and is called as Connect with JSON. */
  isConnect: boolean;
  /** Whether the answer is a stream of bytes. */
  isStream: boolean;
  /** Whether it makes a job, and so takes an idempotency key. */
  isSubmit: boolean;
  /** Makes the request of a message of the method's input type. */
  requestOf(message: Message): EndpointRequest;
}

/** A request that is not sent yet. */
export interface EndpointRequest {
  verb: string;
  /** Path, with the query. */
  path: string;
  /** JSON, a form, or nothing. */
  body: JsonObject | FormData | undefined;
}

const known = new WeakMap<DescMethod, Endpoint>();

/** The endpoint of a method, worked out once. */
export function endpointOf(method: DescMethod): Endpoint {
  let endpoint = known.get(method);
  if (endpoint === undefined) {
    endpoint = derive(method);
    known.set(method, endpoint);
  }
  return endpoint;
}

function derive(method: DescMethod): Endpoint {
  const isConnect = !hasOption(method, http);
  const { pattern } = getOption(method, http);
  const [verb, path] = isConnect
    ? ['POST', `/${method.parent.typeName}/${method.name}`]
    : pattern.case === 'custom'
      ? [pattern.value.kind, pattern.value.path]
      : [pattern.case!.toUpperCase(), pattern.value as string];
  const binding = bindingOf(method);
  const isMultipart = getOption(method, restOption).multipart;
  const inPath = method.input.fields.filter(({ name }) => binding.path.has(name));
  const others = method.input.fields.filter(({ name }) => !binding.path.has(name));
  const inQuery = binding.body === '*' ? [] : others.filter(({ name }) => name !== binding.body);

  const requestOf = (message: Message): EndpointRequest => {
    let filled = path;
    for (const field of inPath)
      filled = filled.replace(`{${field.name}}`, encodeURIComponent(toTexts(field, message)[0] ?? ''));
    const query = new URLSearchParams(
      inQuery.flatMap((field) =>
        toTexts(field, message).map((text): [string, string] => [restName(field), text]),
      ),
    ).toString();
    return { verb, path: query === '' ? filled : `${filled}?${query}`, body: bodyOf(message) };
  };
  const bodyOf = (message: Message): EndpointRequest['body'] => {
    if (binding.body === '') return undefined;
    if (isMultipart) return formOf(message);
    const json = toRest(method.input, message, false);
    if (binding.body !== '*') {
      const field = others.find(({ name }) => name === binding.body)!;
      return json[restName(field)] as JsonObject;
    }
    for (const field of inPath) delete json[restName(field)];
    return json;
  };
  const formOf = (message: Message): FormData => {
    const form = new FormData();
    for (const field of others) {
      const name = restName(field);
      if (field.fieldKind === 'scalar' && field.scalar === ScalarType.BYTES)
        form.append(name, new Blob([fieldValue(message, field) as Uint8Array<ArrayBuffer>]), name);
      else for (const text of toTexts(field, message)) form.append(name, text);
    }
    return form;
  };
  return {
    verb,
    path,
    isConnect,
    isStream: method.methodKind === 'server_streaming',
    isSubmit: getOption(method, jobOption).step === Step.SUBMIT,
    requestOf,
  };
}

/** A request message of what the caller wrote. */
export function messageOf(method: DescMethod, request: object): Message {
  return create(method.input, request as never);
}
