import type { Message } from '@bufbuild/protobuf';
import type { ServedEndpoint } from '../endpoint.ts';

/** Returns the path of what a response created, in the path form (index of `forms`) of its request. */
export type Locate = (response: Message, form: number) => string;

/**
 * Returns the endpoint that shows what another one creates, a GET whose path has one variable that the
 * response carries, or undefined if there is none.
 */
export type ShownBy = (
  endpoint: ServedEndpoint,
  endpoints: readonly ServedEndpoint[],
) => ServedEndpoint | undefined;

/** Derives the `Location` of responses with status 201 or 202, or undefined for other endpoints. */
export function createLocator(
  endpoint: ServedEndpoint,
  endpoints: readonly ServedEndpoint[],
  shownBy: ShownBy,
): Locate | undefined {
  const creates = endpoint.successStatus === 201 || endpoint.successStatus === 202;
  const shown = creates ? shownBy(endpoint, endpoints) : undefined;
  const field = shown && variableIn(shown, endpoint);
  if (field === undefined) return undefined;
  return (response, form) => {
    const value = String((response as unknown as Record<string, unknown>)[field.localName]);
    return shown!.forms[form]!.path.replace(/\{[^}]*\}/, encodeURIComponent(value));
  };
}

/** Returns the field of the responses of `endpoint` that fills the one path variable of `shown`. */
export function variableIn(shown: ServedEndpoint, { method }: ServedEndpoint) {
  const { variables } = shown.forms[0]!.template;
  if (shown.verb !== 'GET' || shown.streams || variables.length !== 1) return undefined;
  return method.output.fields.find(({ name }) => name === variables[0]!.field);
}

/** Default: the first endpoint of the same service that shows one thing. */
export const shownByService: ShownBy = (endpoint, endpoints) =>
  endpoints.find(
    (shown) => shown.method.parent === endpoint.method.parent && variableIn(shown, endpoint) !== undefined,
  );
