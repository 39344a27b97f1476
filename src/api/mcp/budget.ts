import { clone, create } from '@bufbuild/protobuf';
import { SubmitOptionsSchema } from '../../../gen/gleaner/job/v1/submit_options_pb.ts';
import type { SubmitOptions } from '../../contract/submit-options.ts';

/** An accepted submission. */
interface Accepted {
  /** The response as JSON text. */
  text: string;
  /** Returns its cost in credits. */
  cost(): Promise<number>;
}

/** Limit on the credits that submits may cost. */
export interface Budget {
  readonly isLimited: boolean;
  /**
   * Submits with a maximum cost within the budget, and returns the response. Submits of a session
   * with a budget run one after another, so that two cannot spend the same credits. Refunds do not
   * increase the remaining budget.
   */
  spend(
    options: SubmitOptions | undefined,
    submit: (options: SubmitOptions | undefined) => Promise<Accepted>,
  ): Promise<string>;
}

/** A budget without a limit. */
export const unlimitedBudget: Budget = {
  isLimited: false,
  spend: async (options, submit) => (await submit(options)).text,
};

/** The credit ceiling of the API key that submits, which the service enforces. */
export const ceilingBudget: Budget = { ...unlimitedBudget, isLimited: true };

/** Limits the cost of each submit. */
export function perSubmitBudget(maxCredits: number): Budget {
  return {
    isLimited: true,
    spend: async (options, submit) => (await submit(limited(options, maxCredits))).text,
  };
}

/** Limits the cost of all submits of a session together. */
export function sessionBudget(maxCredits: number): Budget {
  let left = maxCredits;
  let last: Promise<unknown> = Promise.resolve();
  return {
    isLimited: true,
    spend(options, submit) {
      // A quote costs nothing.
      if (options?.validateOnly) return submit(limited(options, left)).then(({ text }) => text);
      const spending = last.then(async () => {
        const { text, cost } = await submit(limited(options, left));
        // A cost that cannot be read counts as the most that it can be.
        left -= await cost().catch(() => left);
        return text;
      });
      last = spending.catch(() => {});
      return spending;
    },
  };
}

/** Returns options with a maximum cost of at most `maxCredits`. */
function limited(options: SubmitOptions | undefined, maxCredits: number): SubmitOptions {
  const copy =
    options === undefined ? create(SubmitOptionsSchema) : clone(SubmitOptionsSchema, options);
  copy.maxCredits = Math.min(copy.maxCredits ?? maxCredits, maxCredits);
  return copy;
}
