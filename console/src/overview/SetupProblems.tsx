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

/** Names of settings and files in a remedy. */
const codeNames = /GLEANER_\w+|\w+\.example\.json/g;

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
      actions={openProblems.map(({ name, message, remedy }) => ({
        title: titles[name] ?? name,
        text: <Explanation message={message} remedy={remedy} />,
      }))}
      dismiss={() => setDismissedNames(problems.map(({ name }) => name))}
    />
  );
}

/** What does not work, and what to do, with a link to the documentation. */
function Explanation({ message, remedy }: Pick<SetupProblem, 'message' | 'remedy'>) {
  const [, action = remedy, page, anchor] =
    /^(.*) \(docs\/([\w-]+)\.md#([\w-]+)\)\.$/.exec(remedy) ?? [];
  const consequence = message.replace(/^none: /, '');
  return (
    <>
      {`${consequence.charAt(0).toUpperCase()}${consequence.slice(1)}. `}
      <Text span inherit c="var(--mantine-color-text)">
        <InlineCode text={action.replace(codeNames, '`$&`')} />.
      </Text>{' '}
      {page !== undefined && (
        <Anchor inherit underline="always" href={`${basePath}/docs/guide/${page}#${anchor}`}>
          How to
        </Anchor>
      )}
    </>
  );
}
