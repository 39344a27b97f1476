import { OperatorService } from '../../gen/gleaner/operator/v1/operator_pb.ts';
import type { JobContext } from '../jobs/context.ts';
import { handle } from './account.ts';
import type { Handler } from './core.ts';
import { originShape } from './shapes.ts';

/** What operators see of the service at work. */
export function operatorWorkHandlers({ store }: JobContext): [string, Handler][] {
  const { method } = OperatorService;
  return [handle(method.listOrigins, async () => ({ origins: (await store.listPauses()).map(originShape) }))];
}
