import { setTimeout as wait } from 'node:timers/promises';
import type { Random } from '../../sandbox/random.ts';
import type { CallOutcome, ChaosSubmit } from './account.ts';
import { type ClientContext, type ClientPlan, runCustomer } from './customer.ts';
import type { ChaosOptions } from './options.ts';
import { works } from './works.ts';

/**
 * Submits the jobs spread over the duration of the faults, so that jobs are running until the last
 * fault.
 */
export function submitAlong(
  context: ClientContext,
  { jobs, items }: ChaosOptions,
  draw: Random,
  faultCount: number,
): { advance: (begun: number) => void; done: () => Promise<void> } {
  const running: Promise<unknown>[] = [];
  const drawn = Array.from({ length: jobs }, (_, index) => drawSubmit(context, draw, index, items));
  const advance = (begun: number) => {
    const released = faultCount === 0 ? jobs : Math.ceil((jobs * (begun + 1)) / (faultCount + 1));
    while (running.length < released) {
      const { submission, plan, afterMs } = drawn[running.length]!;
      running.push(
        wait(afterMs)
          .then(() => runCustomer(context, submission, plan))
          .catch((error: Error) =>
            context.problems.add('other', `a client failed: ${error.stack}`),
          ),
      );
    }
  };
  advance(0);
  return {
    advance,
    done: async () => {
      await Promise.all(running);
    },
  };
}

function drawSubmit(context: ClientContext, draw: Random, index: number, items: number) {
  const work = works[index % works.length]!;
  const submission: ChaosSubmit = {
    work,
    user: draw.pick(context.books.users),
    subjects: work.subjects(index, items),
    isKeyed: !draw.once(3),
    outcomes: [],
  };
  const plan: ClientPlan = {
    repeats: draw.once(3),
    resubmits: draw.once(2),
    cancelsAt: draw.once(5) ? draw.integer(0, 60) / 100 : null,
    retries: draw.once(3),
  };
  return { submission, plan, afterMs: draw.integer(0, 2_000) };
}

/** Counts submits and retries by their outcome. */
export function countCalls({ books }: ClientContext): Record<CallOutcome, number> {
  const calls = { accepted: 0, refused: 0, unanswered: 0 };
  const outcomes = [
    ...books.submissions.flatMap((submission) => submission.outcomes),
    ...[...books.jobs.values()].flatMap(({ retries }) => retries),
  ];
  for (const outcome of outcomes) calls[outcome] += 1;
  return calls;
}
