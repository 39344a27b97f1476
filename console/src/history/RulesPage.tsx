import { useMutation, useQuery } from '@connectrpc/connect-query';
import { Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { modals } from '@mantine/modals';
import { IconPlus } from '@tabler/icons-react';
import { HistoryService, type Rule } from '../../../gen/gleaner/history/v1/history_pb.ts';
import { pollMs } from '../app/queries.ts';
import { useAttempt } from '../errors/useAttempt.ts';
import { StatusBadge } from '../jobs/StatusBadge.tsx';
import { Page } from '../layout/Page.tsx';
import { ListTable } from '../list/ListTable.tsx';
import type { Column } from '../list/list-content.ts';
import { CallButton } from '../permission/CallButton.tsx';
import { capitalize } from '../text/capitalize.ts';
import { NewRuleModal } from './NewRuleModal.tsx';
import { conditionText, scopeText } from './rule-text.ts';

const { listRules, deleteRule, createRule } = HistoryService.method;

const columns: Column<Rule>[] = [
  { title: 'Rule', cell: (rule) => rule.name || conditionText(rule) },
  { title: 'Condition', cell: conditionText },
  { title: 'Items', cell: scopeText },
  { title: 'Message', cell: ({ channel }) => capitalize(channel) },
  { title: 'Status', cell: ({ enabled }) => <StatusBadge status={enabled ? 'enabled' : 'disabled'} /> },
];

/** Rules of the caller: which changes of tracked items send a message. */
export function RulesPage() {
  const query = useQuery(listRules, {}, { refetchInterval: pollMs.idle });
  const [opened, { open, close }] = useDisclosure();
  return (
    <Page
      title="Rules"
      description="Get a webhook message or an e-mail when a tracked item changes."
      actions={
        <CallButton call={createRule} leftSection={<IconPlus size={16} aria-hidden />} onClick={open}>
          Create rule
        </CallButton>
      }
    >
      <ListTable
        label="Rules"
        rows={query.data?.rules ?? []}
        keyOf={({ ruleId }) => ruleId}
        query={query}
        columns={[...columns, { title: 'Actions', cell: (rule) => <DeleteButton rule={rule} /> }]}
        empty={{ title: 'No rules', description: 'Create a rule to hear about lower prices or new stock.' }}
      />
      {opened && <NewRuleModal close={close} />}
    </Page>
  );
}

function DeleteButton({ rule }: { rule: Rule }) {
  const deletion = useMutation(deleteRule);
  const attempt = useAttempt();
  const remove = () => attempt(deletion.mutateAsync({ ruleId: rule.ruleId }), 'Rule deleted.');
  return (
    <CallButton
      call={deleteRule}
      size="compact-sm"
      variant="default"
      loading={deletion.isPending}
      aria-label={`Delete ${rule.name || conditionText(rule)}`}
      onClick={() =>
        modals.openConfirmModal({
          title: 'Delete rule?',
          children: <Text size="sm">It sends no more messages.</Text>,
          labels: { confirm: 'Delete', cancel: 'Cancel' },
          confirmProps: { color: 'red' },
          onConfirm: () => void remove(),
        })
      }
    >
      Delete
    </CallButton>
  );
}
