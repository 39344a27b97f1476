import type { DescField, DescMessage } from '@bufbuild/protobuf';
import { isWholeBody } from '../../src/contract/json/message-writer.ts';
import { bindingOf, placeOf, restName } from '../../src/contract/rest-form.ts';
import type { ServedEndpoint } from '../endpoint.ts';
import type { Schema } from './schemas.ts';

/**
 * Returns the links of an endpoint's response: to the operations whose path parameters are fields
 * of the response, besides parameters of the endpoint's own path. Includes operations of the same
 * service, and operations of other services that read the resource itself, as in
 * `/orders/{order_id}`.
 */
export function documentLinks(
  endpoint: ServedEndpoint,
  endpoints: readonly ServedEndpoint[],
  operationIdOf: (endpoint: ServedEndpoint) => string,
): Record<string, Schema> {
  const { method, streams } = endpoint;
  if (streams) return {};
  const members = memberPaths(method.output);
  const requestNames = new Set(pathNames(endpoint));
  const links = endpoints.flatMap((target) => {
    const names = pathNames(target);
    const isNear = target.method.parent === method.parent || isResource(target, names);
    if (target === endpoint || !isNear || names.length === 0) return [];
    const found = names.filter((name) => members.has(name));
    if (found.length === 0 || !names.every((name) => members.has(name) || requestNames.has(name)))
      return [];
    const operationId = operationIdOf(target);
    const parameters = names.map((name) => [
      name,
      members.has(name) ? `$response.body#/${members.get(name)}` : `$request.path.${name}`,
    ]);
    return [[operationId, { operationId, parameters: Object.fromEntries(parameters) }] as const];
  });
  return Object.fromEntries(links);
}

/**
 * Returns the members of a response, and of the objects in it, as JSON pointers by name. Outer ones
 * take precedence.
 */
function memberPaths(output: DescMessage): Map<string, string> {
  const isPlain = (field: DescField) => field.fieldKind === 'scalar' && !isWholeBody(field);
  const inner = output.fields.flatMap((outer) =>
    outer.fieldKind === 'message' && !isWholeBody(outer)
      ? outer.message.fields
          .filter(isPlain)
          .map((field) => [restName(field), `${restName(outer)}/${restName(field)}`] as const)
      : [],
  );
  const own = output.fields
    .filter(isPlain)
    .map((field) => [restName(field), restName(field)] as const);
  return new Map([...inner, ...own]);
}

function pathNames({ method }: ServedEndpoint): string[] {
  const binding = bindingOf(method);
  return method.input.fields.filter((field) => placeOf(binding, field)[0] === 'path').map(restName);
}

/** Returns true if an endpoint reads one resource by its id. */
function isResource({ verb, path }: ServedEndpoint, [name = '']: readonly string[]): boolean {
  return verb === 'GET' && path.endsWith(`/${name.replace(/_id$/, '')}s/{${name}}`);
}
