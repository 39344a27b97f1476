import { Anchor, Text } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import type { SetupProblem } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { ActionCard } from '../ui/layout/ActionCard.tsx';
import { InlineCode } from '../ui/layout/InlineCode.tsx';
import { basePath } from '../ui/session/base-path.ts';

const titles: Readonly<Record<string, string>> = {
  origins: 'Declare the sites to collect from',
  backup: 'Back up the data',
  'public address': 'Set the address that users open',
  'messages to operators': 'Get messages about approvals and alarms',
};

/** What the set-up of the service lacks, until it is mended or dismissed. */
export function SetupProblems({ problems }: { problems: readonly SetupProblem[] }) {
  const [dismissedNames, setDismissedNames] = useLocalStorage<string[]>({
    key: 'gleaner.set-up-dismissed',
    defaultValue: [],
    getInitialValueInEffect: false,
  });
  const openProblems = problems.filter(({ name }) => !dismissedNames.includes(name));
  if (openProblems.length === 0) return null;
  return (
    <ActionCard
      title="Finish the set-up"
      description="What a service in use needs. Restart the service after a change."
      actions={openProblems.map((problem) => ({
        title: titles[problem.name] ?? problem.name,
        text: <Explanation {...problem} />,
      }))}
      dismiss={() => setDismissedNames(problems.map(({ name }) => name))}
    />
  );
}

/** What does not work, and what to do, with a link to the documentation. */
function Explanation({ message, remedy, guide }: SetupProblem) {
  return (
    <>
      {`${message.charAt(0).toUpperCase()}${message.slice(1)}. `}
      <Text span inherit c="var(--mantine-color-text)">
        <InlineCode text={remedy} />
      </Text>{' '}
      <Anchor inherit underline="always" href={`${basePath}/docs/guide/${guide}`}>
        How to
      </Anchor>
    </>
  );
}
