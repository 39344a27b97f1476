import { useMutation, useQuery } from '@connectrpc/connect-query';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { pollMs } from '../app/queries.ts';
import { KeyList } from '../keys/KeyList.tsx';
import { Section } from '../layout/Section.tsx';
import { CallButton } from '../permission/CallButton.tsx';

/** API keys of a user, for operators. */
export function UserKeys({ userId }: { userId: string }) {
  const query = useQuery(OperatorService.method.listApiKeys, { userId }, { refetchInterval: pollMs.idle });
  const creation = useMutation(OperatorService.method.createApiKey);
  const revocation = useMutation(OperatorService.method.revokeApiKey);
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
        revoke={revocation.mutateAsync}
        creating={opened}
        close={close}
      />
    </Section>
  );
}
