import { type DescMethod, type DescService, getOption, hasOption } from '@bufbuild/protobuf';
import { http } from '../../gen/google/api/annotations_pb.ts';
import type { HttpRule } from '../../gen/google/api/http_pb.ts';
import type { DeclaredEndpoint } from '../endpoint.ts';

export const httpBodyType = 'google.api.HttpBody';

/**
 * Returns the endpoints of services: one per google.api.http rule, including `additional_bindings`. Throws an
 * Error that names the method whose rule is invalid.
 */
export function bindingsOf(services: readonly DescService[], maxBodyBytes: number): DeclaredEndpoint[] {
  return services
    .flatMap(({ methods }) => methods.filter((method) => hasOption(method, http)))
    .flatMap((method) => {
      const rule = getOption(method, http);
      if (rule.additionalBindings.some(({ additionalBindings }) => additionalBindings.length > 0))
        throw new Error(`${method}: additional_bindings do not nest`);
      return [rule, ...rule.additionalBindings].map((each) => bindingOf(method, each, maxBodyBytes));
    });
}

function bindingOf(method: DescMethod, rule: HttpRule, maxBodyBytes: number): DeclaredEndpoint {
  const refuse = (why: string): never => {
    throw new Error(`${method}: ${why}`);
  };
  const { pattern, body, responseBody } = rule;
  const [verb, path] =
    pattern.case === 'custom'
      ? [pattern.value.kind, pattern.value.path]
      : [pattern.case?.toUpperCase() ?? refuse('google.api.http has no path'), pattern.value as string];
  const bodyField = method.input.fields.find(({ name }) => name === body);
  if (body !== '' && body !== '*' && bodyField === undefined) refuse(`no field ${body} for the body`);
  if (responseBody !== '' && method.output.fields.every(({ name }) => name !== responseBody))
    refuse(`no field ${responseBody} for the response body`);
  return {
    ...{ method, verb, path, body, responseBody, maxBodyBytes },
    takesBytes:
      body === '*' ? method.input.typeName === httpBodyType : bodyField?.message?.typeName === httpBodyType,
    streams:
      method.methodKind !== 'unary' ||
      (responseBody === '' ? method.output : fieldOf(method, responseBody).message)?.typeName ===
        httpBodyType,
    ...{ successStatus: 200, multipart: false, cached: false, waits: false, isSubmit: false },
    ...{ takesOptions: false, errors: [], workingHours: false, withFormat: null },
  };
}

function fieldOf(method: DescMethod, name: string) {
  return method.output.fields.find((field) => field.name === name)!;
}
