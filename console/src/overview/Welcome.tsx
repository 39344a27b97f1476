import { Button } from '@mantine/core';
import { IconFlask } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import type { Job } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { findJobType } from '../../../src/contract/job-types.ts';
import { type Examples, useExamples } from '../ui/examples/useExamples.ts';
import { ActionCard, type CardAction } from '../ui/layout/ActionCard.tsx';
import { useRefusal } from '../ui/permission/CallButton.tsx';
import type { WelcomeStep } from './welcome-steps.ts';

/** Kind of job of the first steps: products by their ids. */
const firstJobType = findJobType({ market: 'mkte', kind: 'pdp_bulk' })!;

const submitPath = `/submit/${firstJobType.market}/${firstJobType.kind}`;

interface WelcomeProps {
  /** Latest jobs of the account. */
  jobs: readonly Job[];
  /** Ids of the latest examples that this browser ran. */
  exampleIds: readonly string[];
  /** First steps; none if they are done. */
  steps: readonly WelcomeStep[];
  dismiss: () => void;
}

/**
 * First steps of a new user, until they are done. A file of its own, because it is loaded for new
 * users only.
 */
export function Welcome({ jobs, exampleIds, steps, dismiss }: WelcomeProps) {
  const examples = useExamples();
  const isRefused = useRefusal(firstJobType.method) !== null;
  if (isRefused || steps.length === 0) return null;
  const exampleJob = jobs.find(({ jobId }) => exampleIds.includes(jobId));
  return (
    <ActionCard
      title="Get started"
      description="Three steps to data that arrives every day."
      actions={steps.map((step) => cardAction(step, examples, exampleJob))}
      dismiss={dismiss}
    />
  );
}

/**
 * Returns a step with its button. The form starts with the request of the example, if there is one.
 */
function cardAction(
  { id, isDone }: WelcomeStep,
  examples: Examples | null,
  exampleJob: Job | undefined,
): CardAction {
  const formPath = exampleJob
    ? `/submit/${exampleJob.market}/${exampleJob.kind}?job=${exampleJob.jobId}`
    : submitPath;
  if (id === 'example') return { isDone, ...exampleAction(examples) };
  if (id === 'list')
    return {
      title: 'Bring a list',
      text: 'Paste ids or addresses of products, or cells of a spreadsheet, or open a CSV file.',
      isDone,
      action: <StepLink to={exampleJob ? formPath : '/submit'}>Enter a list</StepLink>,
    };
  return {
    title: 'Get it every day',
    text: 'Fill in the same form, and choose Schedule instead of Submit.',
    isDone,
    action: <StepLink to={formPath}>Create a schedule</StepLink>,
  };
}

/** Returns the step with the example; without test data, with a single product. */
function exampleAction(examples: Examples | null): CardAction {
  if (examples === null)
    return {
      title: 'Try one product',
      text: 'Collect one product now, for the price of one unit, and see its record.',
      action: <StepLink to="/try">Try it</StepLink>,
    };
  return {
    title: 'Run an example',
    text: 'Three products of the test data. It costs nothing and takes a second.',
    action: (
      <Button
        size="compact-sm"
        leftSection={<IconFlask size={14} aria-hidden />}
        loading={examples.started !== ''}
        onClick={() => examples.run(firstJobType)}
      >
        Run an example
      </Button>
    ),
  };
}

function StepLink({ to, children }: { to: string; children: ReactNode }) {
  return (
    <Button size="compact-sm" variant="default" component={Link} to={to}>
      {children}
    </Button>
  );
}
