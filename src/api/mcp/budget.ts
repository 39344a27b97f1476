import { clone, create } from '@bufbuild/protobuf';
import { SubmitOptionsSchema } from '../../../gen/gleaner/job/v1/submit_options_pb.ts';
import type { FaultCode } from '../../contract/fault.ts';
import type { SubmitOptions } from '../../contract/submit-options.ts';

/** An accepted submission. */
interface Accepted {
  /** The response as JSON text. */
  text: string;
  /** Returns its cost in credits. */
  cost(): Promise<number>;
}

/** A submit of a caller. */
export interface BudgetedSubmit {
  options: SubmitOptions | undefined;
  /** Repeated submits with a key and the same options return the response of the first one. */
  idempotencyKey: string | undefined;
  submit: (options: SubmitOptions | undefined) => Promise<Accepted>;
}

/** Limit on the credits that submits may cost. */
export interface Budget {
  readonly isLimited: boolean;
  /**
   * Submits with a maximum cost within the budget, and returns the response. Submits of a session
   * with a budget run one after another, so that two cannot spend the same credits. Refunds do not
   * increase the remaining budget.
   */
  spend(call: BudgetedSubmit): Promise<string>;
}

/** A budget without a limit. */
export const unlimitedBudget: Budget = {
  isLimited: false,
  spend: async ({ options, submit }) => (await submit(options)).text,
};

/** The credit ceiling of the API key that submits, which the service enforces. */
export const ceilingBudget: Budget = { ...unlimitedBudget, isLimited: true };

/** Limits the cost of each submit. */
export function perSubmitBudget(maxCredits: number): Budget {
  return {
    isLimited: true,
    spend: async ({ options, submit }) => (await submit(limited(options, maxCredits))).text,
  };
}

/** Credits of an earlier submit. */
interface Spending {
  /** Maximum cost in its options. */
  maxCredits: number;
  /** Its cost, or its maximum cost if its response was lost. */
  credits: number;
}

/** Limits the cost of all submits of a session together. */
export function sessionBudget(maxCredits: number): Budget {
  let left = maxCredits;
  const spendings = new Map<string, Spending>();
  const spendNext = async ({ options, idempotencyKey, submit }: BudgetedSubmit) => {
    const earlier = idempotencyKey === undefined ? undefined : spendings.get(idempotencyKey);
    // A submit with other options than the first one of its key would be a conflict.
    const spending = earlier ?? { maxCredits: maxCreditsOf(options, left), credits: 0 };
    const count = (credits: number) => {
      left += spending.credits - credits;
      spending.credits = credits;
      if (idempotencyKey !== undefined) spendings.set(idempotencyKey, spending);
    };
    try {
      const { text, cost } = await submit(limited(options, spending.maxCredits));
      count(await cost().catch(() => spending.maxCredits));
      return text;
    } catch (error) {
      if (earlier === undefined && !isRefusal(error)) count(spending.maxCredits);
      throw error;
    }
  };
  let last: Promise<unknown> = Promise.resolve();
  return {
    isLimited: true,
    spend(call) {
      const { options, submit } = call;
      // A quote costs nothing.
      if (options?.validateOnly) return submit(limited(options, left)).then(({ text }) => text);
      const spending = last.then(() => spendNext(call));
      last = spending.catch(() => {});
      return spending;
    },
  };
}

/** Codes of faults with which no job was created. */
const refusals: ReadonlySet<unknown> = new Set<FaultCode>([
  'unauthenticated',
  'forbidden',
  'insufficient_credits',
  'max_credits_exceeded',
  'not_found',
  'conflict',
  'invalid',
  'malformed',
  'too_large',
  'unsupported_media',
  'rate_limited',
  'starting',
  'disk_full',
]);

const isRefusal = (error: unknown): boolean => refusals.has((error as { code?: unknown }).code);

const maxCreditsOf = (options: SubmitOptions | undefined, maxCredits: number): number =>
  Math.min(options?.maxCredits ?? maxCredits, maxCredits);

/** Returns options with a maximum cost of at most `maxCredits`. */
function limited(options: SubmitOptions | undefined, maxCredits: number): SubmitOptions {
  const copy =
    options === undefined ? create(SubmitOptionsSchema) : clone(SubmitOptionsSchema, options);
  copy.maxCredits = maxCreditsOf(options, maxCredits);
  return copy;
}
