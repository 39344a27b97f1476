import type { DescField, DescMessage, DescService } from '@bufbuild/protobuf';
import { type Endpoint, endpointsOf } from '../src/contract/endpoint.ts';
import { restName } from '../src/contract/rest-form.ts';
import { limitOptionNames, submitOptionFields } from '../src/contract/submit-options.ts';
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
  /**
   * Names of query parameters that a body must not have. Other unknown fields of a body are
   * ignored; to ignore one of these would do what the caller excludes.
   */
  queryOnly: readonly string[];
}

/**
 * Parses the paths of every endpoint of the services. Throws an Error that names an invalid
 * declaration.
 */
export function servedEndpoints(
  services: readonly DescService[],
  formsOf: PathForms,
): ServedEndpoint[] {
  const served = endpointsOf(services).map((endpoint): ServedEndpoint => {
    const forms = formsOf(endpoint.path).map((path) => ({ path, template: parse(path) }));
    return {
      ...endpoint,
      forms,
      exported: null,
      queryOnly: queryOnlyNames({ ...endpoint, forms }),
    };
  });
  for (const endpoint of served.filter(({ withFormat }) => withFormat !== null)) {
    const exported = served.find(({ method }) => method === endpoint.withFormat);
    if (exported === undefined)
      throw new Error(`${endpoint.method}: ${endpoint.withFormat} has no path`);
    endpoint.exported = exported;
  }
  return served;
}

type PlacedEndpoint = Endpoint & Pick<ServedEndpoint, 'forms'>;

function queryOnlyNames(endpoint: PlacedEndpoint): string[] {
  const { verb, body, takesOptions } = endpoint;
  if (verb === 'GET') return [];
  const options = body === '' ? submitOptionFields.map(({ name }) => name) : limitOptionNames;
  const { queryFields } = fieldPlaces(endpoint);
  return [...queryFields.map(restName), ...(takesOptions ? options : [])];
}

/** Returns the fields of an endpoint's requests that are in the body, and those in the query. */
export function fieldPlaces({ method, forms, body }: PlacedEndpoint): {
  bodyFields: DescField[];
  queryFields: DescField[];
} {
  const pathNames = new Set(forms[0]!.template.variables.map(({ field }) => field));
  const outsidePath = method.input.fields.filter((field) => !pathNames.has(field.name));
  const isInBody = ({ name }: DescField) => body === '*' || body === name;
  return {
    bodyFields: outsidePath.filter(isInBody),
    queryFields: outsidePath.filter((field) => !isInBody(field)),
  };
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
