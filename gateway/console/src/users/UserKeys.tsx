import { useMutation, useQuery } from '@connectrpc/connect-query';
import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconPlus } from '@tabler/icons-react';
import { OperatorService } from '../../../../gen/gleaner/operator/v1/operator_pb.ts';
import { every } from '../app/queries.ts';
import { tellDone, tellFault } from '../fault/tell.ts';
import { KeysTable } from '../keys/KeysTable.tsx';
import { NewKeyModal } from '../keys/NewKeyModal.tsx';
import { Section } from '../layout/Section.tsx';
import { useRefresh } from '../list/useRefresh.ts';

/** A user's API keys, for operators. */
export function UserKeys({ userId }: { userId: string }) {
  const query = useQuery(OperatorService.method.listApiKeys, { userId }, { refetchInterval: every.resting });
  const creation = useMutation(OperatorService.method.createApiKey);
  const revocation = useMutation(OperatorService.method.revokeApiKey);
  const refresh = useRefresh();
  const [opened, { open, close }] = useDisclosure();
  return (
    <Section
      title="API keys"
      actions={
        <Button size="xs" variant="default" leftSection={<IconPlus size={16} aria-hidden />} onClick={open}>
          New key
        </Button>
      }
    >
      <KeysTable
        keys={query.data?.keys ?? []}
        query={query}
        revoke={({ keyId, name }) =>
          revocation
            .mutateAsync({ keyId })
            .then(() => tellDone(`The key “${name}” is revoked.`))
            .then(refresh)
            .catch(tellFault)
        }
      />
      <NewKeyModal
        opened={opened}
        close={close}
        create={async (name, expiresAt) => {
          const { apiKey } = await creation.mutateAsync({ userId, name, expiresAt });
          await refresh();
          return apiKey;
        }}
      />
    </Section>
  );
}
