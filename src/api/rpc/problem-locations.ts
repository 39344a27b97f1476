import type { DescMethod } from '@bufbuild/protobuf';
import { Fault, type Problem } from '../../contract/fault.ts';
import {
  submitOptionFields,
  submitOptionMetadata,
  takesSubmitOptions,
} from '../../contract/submit-options.ts';

/** Names of the options as query parameters, and as metadata. */
const names = submitOptionFields.map((field) => ({
  parameter: field.name,
  metadata: submitOptionMetadata(field),
}));

/**
 * Returns an error of a submission as RPC reports it: problems of its options are in the metadata. Handlers
 * locate them in the query, as REST does. Returns any other error unchanged.
 */
export function placeInMetadata(method: DescMethod, thrown: unknown): unknown {
  if (!(thrown instanceof Fault) || thrown.problems.length === 0 || !takesSubmitOptions(method))
    return thrown;
  const problems = thrown.problems.map((problem) => {
    const known = names.find(({ parameter }) => isAt(problem, 'query', parameter));
    return known === undefined ? problem : move(problem, 'header', known.metadata);
  });
  return new Fault(thrown.code, thrown.message, { problems, cause: thrown });
}

/**
 * Returns problems that a submission over RPC reports, with those of its options in the query, as REST
 * reports them.
 */
export function placeInQuery(method: DescMethod, problems: Problem[]): Problem[] {
  if (!takesSubmitOptions(method)) return problems;
  return problems.map((problem) => {
    const known = names.find(({ metadata }) => isAt(problem, 'header', metadata));
    return known === undefined ? problem : move(problem, 'query', known.parameter);
  });
}

const isAt = ({ loc }: Problem, place: string, name: string) => loc[0] === place && loc[1] === name;

const move = ({ loc, ...problem }: Problem, place: string, name: string): Problem => ({
  ...problem,
  loc: [place, name, ...loc.slice(2)],
});
