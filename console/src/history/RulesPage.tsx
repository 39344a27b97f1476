import { useQuery } from '@connectrpc/connect-query';
import { Alert } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { AccountService } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { HistoryService, type Rule } from '../../../gen/gleaner/history/v1/history_pb.ts';
import { conditionText, scopeText } from '../../../src/present/rule.ts';
import { capitalize } from '../../../src/present/text.ts';
import { ConfirmButton } from '../ui/actions/ActionButton.tsx';
import { StatusBadge } from '../ui/jobs/StatusBadge.tsx';
import { Page } from '../ui/layout/Page.tsx';
import { ListTable } from '../ui/list/ListTable.tsx';
import type { ListColumn } from '../ui/list/list-content.ts';
import { RowActions } from '../ui/list/RowActions.tsx';
import { CallButton, useRefusal } from '../ui/permission/CallButton.tsx';
import { pollMs } from '../ui/queries.ts';
import { TextLink } from '../ui/TextLink.tsx';
import { RuleModal } from './RuleModal.tsx';

const { getWebhook } = AccountService.method;
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
      <WebhookNotice rules={query.data?.rules ?? []} />
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

/** Says that rules send nothing while their webhook is absent or disabled. */
function WebhookNotice({ rules }: { rules: readonly Rule[] }) {
  const isUsed = rules.some(({ enabled, channel }) => enabled && channel === 'webhook');
  const isAllowed = useRefusal(getWebhook) === null;
  const { data } = useQuery(getWebhook, {}, { enabled: isUsed && isAllowed });
  if (!isUsed || data === undefined || (data.url !== '' && data.enabled)) return null;
  return (
    <Alert color="yellow" title="Rules send no messages yet">
      Your account has no enabled webhook. <TextLink to="/webhook">Set the webhook</TextLink>
    </Alert>
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
