import { useQuery } from '@connectrpc/connect-query';
import { Anchor } from '@mantine/core';
import { Link } from 'react-router';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { pollMs } from '../app/queries.ts';

/** Link to a user with the user's name; with the start of the id for a user who is not among the newest 1,000. */
export function UserName({ userId }: { userId: string }) {
  const { data } = useQuery(
    OperatorService.method.listUsers,
    { pageSize: 1_000 },
    { staleTime: pollMs.idle },
  );
  const name = data?.users.find(({ id }) => id === userId)?.name;
  return (
    <Anchor component={Link} to={`/users/${userId}`} size="sm">
      {name ?? userId.slice(0, 8)}
    </Anchor>
  );
}
