import { useMutation, useQuery } from '@connectrpc/connect-query';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { useKeys } from '../ui/keys/useKeys.tsx';
import { Section } from '../ui/layout/Section.tsx';
import { pollMs } from '../ui/queries.ts';

const { method } = OperatorService;

/** API keys of a user, for operators. */
export function UserKeys({ userId }: { userId: string }) {
  const creation = useMutation(method.createApiKey);
  const [list, createButton] = useKeys({
    query: useQuery(method.listApiKeys, { userId }, { refetchInterval: pollMs.idle }),
    methods: method,
    owner: 'user',
    create: (request) => creation.mutateAsync({ ...request, userId }),
    button: { size: 'xs', variant: 'default' },
  });
  return (
    <Section title="API keys" actions={createButton}>
      {list}
    </Section>
  );
}
