import { timestampMs } from '@bufbuild/protobuf/wkt';
import { useMutation } from '@connectrpc/connect-query';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { type Operator, OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { KeyList } from '../ui/keys/KeyList.tsx';
import { Section } from '../ui/layout/Section.tsx';
import type { ListQuery } from '../ui/list/ListTable.tsx';
import { CallButton } from '../ui/permission/CallButton.tsx';
import { Moment } from '../ui/time/Moment.tsx';

/** API keys of an operator. */
export function OperatorKeys({
  operator: { id, name, keys },
  query,
}: {
  operator: Operator;
  query: ListQuery;
}) {
  const creation = useMutation(OperatorService.method.createApiKey);
  const [opened, { open, close }] = useDisclosure();
  const [lastUsed] = keys
    .flatMap(({ lastUsedAt }) => lastUsedAt ?? [])
    .sort((one, other) => timestampMs(other) - timestampMs(one));
  return (
    <Section
      title={name}
      description={
        <>
          Last active: <Moment at={lastUsed} relative none="never" />
        </>
      }
      actions={
        <CallButton
          call={OperatorService.method.createApiKey}
          size="xs"
          variant="default"
          leftSection={<IconPlus size={16} aria-hidden />}
          onClick={open}
          aria-label={`Create key for ${name}`}
        >
          Create key
        </CallButton>
      }
    >
      <KeyList
        query={{ isPending: false, error: null, refetch: query.refetch, data: { keys } }}
        methods={OperatorService.method}
        owner="operator"
        create={(request) => creation.mutateAsync({ ...request, userId: id })}
        creating={opened}
        close={close}
      />
    </Section>
  );
}
