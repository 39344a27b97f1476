import { useQuery } from '@connectrpc/connect-query';
import { IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { HistoryService, type Rule } from '../../../gen/gleaner/history/v1/history_pb.ts';
import { conditionText, scopeText } from '../../../src/present/rule.ts';
import { capitalize } from '../../../src/present/text.ts';
import { ConfirmButton } from '../ui/actions/ActionButton.tsx';
import { StatusBadge } from '../ui/jobs/StatusBadge.tsx';
import { Page } from '../ui/layout/Page.tsx';
import { ListTable } from '../ui/list/ListTable.tsx';
import type { ListColumn } from '../ui/list/list-content.ts';
import { RowActions } from '../ui/list/RowActions.tsx';
import { CallButton } from '../ui/permission/CallButton.tsx';
import { pollMs } from '../ui/queries.ts';
import { RuleModal } from './RuleModal.tsx';

const { listRules, deleteRule, createRule, updateRule } = HistoryService.method;

const columns: ListColumn<Rule>[] = [
  { title: 'Rule', cell: (rule) => rule.name || conditionText(rule) },
  { title: 'Condition', cell: conditionText },
  { title: 'Items', cell: scopeText },
  { title: 'Message', cell: ({ channel }) => capitalize(channel) },
  {
    title: 'Status',
    cell: ({ enabled }) => <StatusBadge status={enabled ? 'enabled' : 'disabled'} />,
  },
];

/** Rules of the caller: which changes of tracked items send a message. */
export function RulesPage() {
  const query = useQuery(listRules, {}, { refetchInterval: pollMs.idle });
  // Null for a new rule; undefined while the dialog is closed.
  const [edited, edit] = useState<Rule | null | undefined>(undefined);
  return (
    <Page
      title="Rules"
      description="Get a webhook message or an email when a tracked item changes."
      actions={
        <CallButton call={createRule} icon={IconPlus} onClick={() => edit(null)}>
          Create rule
        </CallButton>
      }
    >
      <ListTable
        label="Rules"
        rows={query.data?.rules ?? []}
        keyOf={({ ruleId }) => ruleId}
        query={query}
        columns={[
          ...columns,
          {
            title: 'Actions',
            align: 'right',
            cell: (rule) => <RuleActions rule={rule} edit={() => edit(rule)} />,
          },
        ]}
        empty={{
          title: 'No rules',
          description: 'Create a rule to hear about lower prices or new stock.',
        }}
      />
      {edited !== undefined && <RuleModal rule={edited} close={() => edit(undefined)} />}
    </Page>
  );
}

function RuleActions({ rule, edit }: { rule: Rule; edit: () => void }) {
  return (
    <RowActions>
      <CallButton
        inRow
        call={updateRule}
        aria-label={`Edit ${rule.name || conditionText(rule)}`}
        onClick={edit}
      >
        Edit
      </CallButton>
      <ConfirmButton
        inRow
        call={deleteRule}
        request={{ ruleId: rule.ruleId }}
        question={{ title: 'Delete rule?', text: 'It sends no more messages.', confirm: 'Delete' }}
        done="Rule deleted."
        aria-label={`Delete ${rule.name || conditionText(rule)}`}
      >
        Delete
      </ConfirmButton>
    </RowActions>
  );
}
