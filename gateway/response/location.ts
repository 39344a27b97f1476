import type { DescMessage, Message } from '@bufbuild/protobuf';
import { pathPart } from '../../src/contract/path-part.ts';
import type { ServedEndpoint } from '../endpoint.ts';

/**
 * Returns the path of what a response created, in the path form (index of `forms`) of its request.
 */
export type Locate = (response: Message, form: number, request: Message) => string;

/**
 * Returns the GET endpoint of the resource that another endpoint creates. Its path has the
 * variables of the other path and one that is a field of the response. Undefined if there is none.
 */
export type ShownBy = (
  endpoint: ServedEndpoint,
  endpoints: readonly ServedEndpoint[],
) => ServedEndpoint | undefined;

/**
 * Derives the `Location` of responses with status 201 or 202, below the path of the public address.
 * Undefined for other endpoints.
 */
export function createLocator(
  endpoint: ServedEndpoint,
  endpoints: readonly ServedEndpoint[],
  shownBy: ShownBy,
  publicUrl: () => string = () => '/',
): Locate | undefined {
  const creates = endpoint.successStatus === 201 || endpoint.successStatus === 202;
  const readEndpoint = creates ? shownBy(endpoint, endpoints) : undefined;
  const field = readEndpoint && variableIn(readEndpoint, endpoint);
  if (field === undefined) return undefined;
  return (response, form, request) => {
    const { input } = endpoint.method;
    const path = readEndpoint!.forms[form]!.path.replace(/\{([^}]*)\}/g, (_, name: string) => {
      const [message, { localName }] =
        name === field.name ? [response, field] : [request, named(input, name)!];
      return pathPart(String((message as unknown as Record<string, unknown>)[localName]));
    });
    return basePathOf(publicUrl()) + path;
  };
}

/**
 * Returns the path of a base address, without a slash at its end: empty for `https://shop.test`.
 */
export const basePathOf = (address: string): string =>
  new URL(address, 'http://localhost').pathname.replace(/\/+$/, '');

const named = ({ fields }: DescMessage, name: string) =>
  fields.find((field) => field.name === name);

/**
 * Returns the field of the responses of `endpoint` that fills the one path variable of `shown`, or
 * of several the one that the path of `endpoint` does not have.
 */
export function variableIn(readEndpoint: ServedEndpoint, { method, forms }: ServedEndpoint) {
  const { variables } = readEndpoint.forms[0]!.template;
  const pathFields = new Set(forms[0]!.template.variables.map(({ field }) => field));
  const own =
    variables.length === 1 ? variables : variables.filter(({ field }) => !pathFields.has(field));
  const [variable, ...furtherVariables] = own;
  if (
    readEndpoint.verb !== 'GET' ||
    readEndpoint.streams ||
    variable === undefined ||
    furtherVariables.length > 0
  )
    return undefined;
  return named(method.output, variable.field);
}

/** Default: the first endpoint of the same service that shows one thing. */
export const shownByService: ShownBy = (endpoint, endpoints) =>
  endpoints.find(
    (readEndpoint) =>
      readEndpoint.method.parent === endpoint.method.parent &&
      variableIn(readEndpoint, endpoint) !== undefined,
  );
