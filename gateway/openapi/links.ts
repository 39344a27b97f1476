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
  const links: Record<string, Schema> = {};
  for (const target of endpoints) {
    const names = pathNames(target);
    const isNear = target.method.parent === method.parent || isResource(target, names);
    if (target === endpoint || !isNear) continue;
    const hasValues = names.every((name) => members.has(name) || requestNames.has(name));
    if (!hasValues || !names.some((name) => members.has(name))) continue;
    const parameters: Record<string, string> = {};
    for (const name of names) {
      const pointer = members.get(name);
      parameters[name] =
        pointer === undefined ? `$request.path.${name}` : `$response.body#/${pointer}`;
    }
    const operationId = operationIdOf(target);
    links[operationId] = { operationId, parameters };
  }
  return links;
}

/**
 * Returns the members of a response, and of the objects in it, as JSON pointers by name. Outer ones
 * take precedence.
 */
function memberPaths(output: DescMessage): Map<string, string> {
  const plainNames = (fields: readonly DescField[]) =>
    fields.filter((field) => field.fieldKind === 'scalar' && !isWholeBody(field)).map(restName);
  const paths = new Map<string, string>();
  for (const field of output.fields) {
    if (field.fieldKind !== 'message' || isWholeBody(field)) continue;
    for (const name of plainNames(field.message.fields))
      paths.set(name, `${restName(field)}/${name}`);
  }
  for (const name of plainNames(output.fields)) paths.set(name, name);
  return paths;
}

function pathNames({ method }: ServedEndpoint): string[] {
  const binding = bindingOf(method);
  return method.input.fields.filter((field) => placeOf(binding, field)[0] === 'path').map(restName);
}

/** Returns true if an endpoint reads one resource by its id. */
function isResource({ verb, path }: ServedEndpoint, [name = '']: readonly string[]): boolean {
  return verb === 'GET' && path.endsWith(`/${name.replace(/_id$/, '')}s/{${name}}`);
}
