import { timestampMs } from '@bufbuild/protobuf/wkt';
import { useMutation } from '@connectrpc/connect-query';
import { type Operator, OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { useKeys } from '../ui/keys/useKeys.tsx';
import { Section } from '../ui/layout/Section.tsx';
import type { ListQuery } from '../ui/list/ListTable.tsx';
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
  const [list, createButton] = useKeys({
    query: { isPending: false, error: null, refetch: query.refetch, data: { keys } },
    methods: OperatorService.method,
    owner: 'operator',
    create: (request) => creation.mutateAsync({ ...request, userId: id }),
    button: { size: 'xs', variant: 'default', 'aria-label': `Create key for ${name}` },
  });
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
      actions={createButton}
    >
      {list}
    </Section>
  );
}
