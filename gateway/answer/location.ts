import { getOption, type Message } from '@bufbuild/protobuf';
import { job, Step } from '../../gen/gleaner/options/v1/options_pb.ts';
import type { Endpoint } from '../endpoint.ts';

/** The path where what an answer began is seen, in the address form (index of `forms`) of its request. */
export type Locate = (answer: Message, form: number) => string;

/**
 * How answers with status 202 say where their job is seen: the first declared GET of the same service (and of
 * the same kind of work, where the method has one) whose path names one thing that the answer carries.
 * Undefined for other answers, and where there is none.
 */
export function locatorOf(endpoint: Endpoint, endpoints: readonly Endpoint[]): Locate | undefined {
  if (endpoint.successStatus !== 202) return undefined;
  const { parent, output } = endpoint.method;
  const { kind } = getOption(endpoint.method, job);
  const shown = endpoints.find(({ verb, streams, method, forms }) => {
    const { variables } = forms[0]!.template;
    const { kind: shownKind, step } = getOption(method, job);
    const ofKind = kind === '' ? true : shownKind === kind && step === Step.READ;
    const carried = output.fields.some(({ name }) => name === variables[0]?.field);
    return (
      verb === 'GET' && !streams && method.parent === parent && ofKind && variables.length === 1 && carried
    );
  });
  if (shown === undefined) return undefined;
  const name = shown.forms[0]!.template.variables[0]!.field;
  const field = output.fields.find((known) => known.name === name)!;
  return (answer, form) => {
    const value = String((answer as unknown as Record<string, unknown>)[field.localName]);
    return shown.forms[form]!.path.replace(/\{[^}]*\}/, encodeURIComponent(value));
  };
}
