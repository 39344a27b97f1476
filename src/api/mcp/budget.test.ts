import { create } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { SubmitOptionsSchema } from '../../../gen/gleaner/job/v1/submit_options_pb.ts';
import { Fault } from '../../contract/fault.ts';
import { type BudgetedSubmit, sessionBudget } from './budget.ts';

/** Submits that record the maximum cost which they are called with. */
function createSubmits() {
  const maxima: (number | undefined)[] = [];
  const answerWith = (submit: () => Promise<number>): BudgetedSubmit['submit'] => {
    return async (options) => {
      maxima.push(options?.maxCredits);
      const cost = await submit();
      return { text: 'job', cost: async () => cost };
    };
  };
  return {
    maxima,
    costs: (credits: number) => answerWith(async () => credits),
    fails: (error: Error) => answerWith(() => Promise.reject(error)),
  };
}

const call = (submit: BudgetedSubmit['submit'], idempotencyKey?: string): BudgetedSubmit => ({
  options: undefined,
  idempotencyKey,
  submit,
});

describe('sessionBudget()', () => {
  test('limits each submit to what the earlier ones left', async () => {
    const { maxima, costs } = createSubmits();
    const budget = sessionBudget(100);
    await budget.spend(call(costs(30)));
    const options = create(SubmitOptionsSchema, { maxCredits: 20 });
    await budget.spend({ ...call(costs(15)), options });
    await budget.spend(call(costs(0)));
    expect(maxima).toEqual([100, 20, 55]);
  });

  test('runs submits one after another', async () => {
    const { maxima, costs } = createSubmits();
    const budget = sessionBudget(100);
    await Promise.all([budget.spend(call(costs(60))), budget.spend(call(costs(40)))]);
    expect(maxima).toEqual([100, 40]);
  });

  test('repeats a submit with its options, and counts its cost once', async () => {
    const { maxima, costs } = createSubmits();
    const budget = sessionBudget(100);
    await budget.spend(call(costs(30), 'key'));
    await budget.spend(call(costs(30), 'key'));
    await budget.spend(call(costs(0)));
    expect(maxima).toEqual([100, 100, 70]);
  });

  test('counts the most that a submit can cost if its response is lost', async () => {
    const { maxima, costs, fails } = createSubmits();
    const budget = sessionBudget(100);
    const options = create(SubmitOptionsSchema, { maxCredits: 80 });
    const lost = new Fault('unavailable', 'The service did not respond.');
    await expect(budget.spend({ ...call(fails(lost), 'key'), options })).rejects.toBe(lost);
    await budget.spend(call(costs(0)));
    // The repetition returns the response, and with it the cost.
    await budget.spend({ ...call(costs(30), 'key'), options });
    await budget.spend(call(costs(0)));
    expect(maxima).toEqual([80, 20, 80, 70]);
  });

  test('counts the most that a submit can cost if its cost cannot be read', async () => {
    const { maxima, costs } = createSubmits();
    const budget = sessionBudget(100);
    const options = create(SubmitOptionsSchema, { maxCredits: 80 });
    const submit = async () => ({
      text: 'job',
      cost: () => Promise.reject(new Error('no response')),
    });
    await budget.spend({ ...call(submit), options });
    await budget.spend(call(costs(0)));
    expect(maxima).toEqual([20]);
  });

  test.each(['invalid', 'insufficient_credits', 'rate_limited'] as const)(
    'counts nothing for a submit that is refused with %s',
    async (code) => {
      const { maxima, costs, fails } = createSubmits();
      const budget = sessionBudget(100);
      await budget.spend(call(costs(30)));
      const refusal = new Fault(code, 'Refused.');
      await expect(budget.spend(call(fails(refusal), 'key'))).rejects.toBe(refusal);
      await budget.spend(call(costs(60)));
      // Nothing was created under the key, so that the repetition has what is left.
      await budget.spend(call(costs(10), 'key'));
      expect(maxima).toEqual([100, 70, 70, 10]);
    },
  );
});
