import type { DescField, DescMessage, DescService } from '@bufbuild/protobuf';
import { type Endpoint, endpointsOf } from '../src/contract/endpoint.ts';
import { parse, type Template } from './paths/parse.ts';

/** Returns the paths that a declared path is served under; the first one is documented first. */
export type PathForms = (path: string) => readonly string[];

export interface PathForm {
  path: string;
  template: Template;
}

/** Endpoint with the paths that it is served under. */
export interface ServedEndpoint extends Endpoint {
  forms: readonly PathForm[];
  /** Endpoint that serves requests whose query has one of `exportParams`. */
  exported: ServedEndpoint | null;
}

/**
 * Parses the paths of every endpoint of the services. Throws an Error that names an invalid
 * declaration.
 */
export function servedEndpoints(
  services: readonly DescService[],
  formsOf: PathForms,
): ServedEndpoint[] {
  const served = endpointsOf(services).map(
    (endpoint): ServedEndpoint => ({
      ...endpoint,
      forms: formsOf(endpoint.path).map((path) => ({ path, template: parse(path) })),
      exported: null,
    }),
  );
  for (const endpoint of served.filter(({ withFormat }) => withFormat !== null)) {
    const exported = served.find(({ method }) => method === endpoint.withFormat);
    if (exported === undefined)
      throw new Error(`${endpoint.method}: ${endpoint.withFormat} has no path`);
    endpoint.exported = exported;
  }
  return served;
}

/**
 * Returns true if responses of a type are equal while nothing changes: they have no volatile field.
 */
export function isStable(
  schema: DescMessage,
  isVolatile: (field: DescField) => boolean,
  seen = new Set<DescMessage>(),
): boolean {
  if (seen.has(schema)) return true;
  seen.add(schema);
  return schema.fields.every(
    (field) =>
      !isVolatile(field) &&
      (field.message === undefined || isStable(field.message, isVolatile, seen)),
  );
}
