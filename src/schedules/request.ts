import type { Message } from '@bufbuild/protobuf';
import { Step } from '../../gen/gleaner/options/v1/options_pb.ts';
import { Fault, type Problem } from '../contract/fault.ts';
import { quote } from '../contract/problem-texts.ts';
import { readRequestText } from '../contract/request-text.ts';
import { didYouMean } from '../contract/suggest.ts';
import type { JobMethod, JobTypes, ResolvedJobType } from '../jobs/job-types.ts';

/** Maximum bytes of a schedule's request. */
const maxRequestBytes = 8 * 1024 * 1024;

/** Location of the request in the calls that set it. */
const requestLoc: Problem['loc'] = ['body', 'request'];

/** A submit method and its job type. */
export interface SubmitMethod extends JobMethod {
  jobType: ResolvedJobType;
}

/**
 * Returns the submit method of a job type. Throws a Fault `invalid` for a market that does not
 * exist or does not offer the kind.
 */
export function submitMethodOf(jobTypes: JobTypes, market: string, kind: string): SubmitMethod {
  const submits = [...jobTypes.methods.values()].filter(
    (method): method is SubmitMethod => method.step === Step.SUBMIT && method.jobType !== null,
  );
  const ofMarket = submits.filter((method) => method.market.name === market);
  if (ofMarket.length === 0) throw notOneOf('market', market, [...new Set(submits.map(marketOf))]);
  const method = ofMarket.find(({ jobType }) => jobType.kind.name === kind);
  if (method === undefined) throw notOneOf('kind', kind, ofMarket.map(kindOf));
  return method;
}

const marketOf = ({ market }: SubmitMethod) => market.name;
const kindOf = ({ jobType }: SubmitMethod) => jobType.kind.name;

function notOneOf(field: string, value: string, choices: readonly string[]): Fault {
  const expected = `Input should be one of ${choices.join(', ')}, not ${quote(value)}`;
  const question = didYouMean(value, choices);
  const msg = question === '' ? expected : `${expected}.${question}`;
  return Fault.invalid(['body', field], msg, 'enum');
}

/** A validated request and the number of its units. */
export interface PlannedRequest {
  message: Message;
  units: number;
}

/**
 * Validates the text of a request as its submit does, rules of the kind included. Throws a Fault
 * `invalid` with problems located in `request`.
 */
export async function planRequest(
  { method, jobType }: SubmitMethod,
  text: string,
): Promise<PlannedRequest> {
  if (Buffer.byteLength(text) > maxRequestBytes)
    throw Fault.invalid(
      requestLoc,
      `Input should have at most ${maxRequestBytes} bytes`,
      'too_long',
    );
  const message = readRequestText(method.input, text, requestLoc);
  try {
    const { groups } = await jobType.kind.plan(message, method.input, jobType.market);
    return { message, units: groups.reduce((sum, { units }) => sum + units.length, 0) };
  } catch (error) {
    throw inRequest(error);
  }
}

/** Returns the fault of a submit with the problems of its body located in `request`. */
function inRequest(error: unknown): unknown {
  if (!(error instanceof Fault) || error.problems.length === 0) return error;
  const problems = error.problems.map((problem) => {
    const [part, ...inside] = problem.loc;
    if (part === 'body') return { ...problem, loc: [...requestLoc, ...inside] };
    return problem;
  });
  return new Fault(error.code, error.message, { problems, cause: error });
}
