import type { JobContext } from '../jobs/context.ts';
import type { Handlers } from './handlers.ts';
import { operatorDriftHandlers } from './operator-drift.ts';
import { operatorJobHandlers } from './operator-jobs.ts';
import { operatorUserHandlers } from './operator-users.ts';
import { operatorWorkHandlers } from './operator-work.ts';

/** Handlers of gleaner.operator.v1.OperatorService. */
export function operatorHandlers(context: JobContext): Handlers {
  const unary = new Map([
    ...operatorUserHandlers(context),
    ...operatorJobHandlers(context),
    ...operatorWorkHandlers(context),
    ...operatorDriftHandlers(context),
  ]);
  return { unary, stream: new Map() };
}
