import { useMutation, useQuery } from '@connectrpc/connect-query';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { KeyList } from '../ui/keys/KeyList.tsx';
import { Section } from '../ui/layout/Section.tsx';
import { CallButton } from '../ui/permission/CallButton.tsx';
import { pollMs } from '../ui/queries.ts';

/** API keys of a user, for operators. */
export function UserKeys({ userId }: { userId: string }) {
  const query = useQuery(OperatorService.method.listApiKeys, { userId }, { refetchInterval: pollMs.idle });
  const creation = useMutation(OperatorService.method.createApiKey);
  const [opened, { open, close }] = useDisclosure();
  return (
    <Section
      title="API keys"
      actions={
        <CallButton
          call={OperatorService.method.createApiKey}
          size="xs"
          variant="default"
          leftSection={<IconPlus size={16} aria-hidden />}
          onClick={open}
        >
          Create key
        </CallButton>
      }
    >
      <KeyList
        query={query}
        methods={OperatorService.method}
        owner="user"
        create={(request) => creation.mutateAsync({ ...request, userId })}
        creating={opened}
        close={close}
      />
    </Section>
  );
}
