import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { OperatorService, type ProcessSchema } from '../../gen/gleaner/operator/v1/operator_pb.ts';
import type { JobContext, StoreUse } from '../jobs/context.ts';
import type { ProcessReport } from '../store/operations.ts';
import { type Handler, handle } from './handlers.ts';
import { originShapes } from './origin-shape.ts';

/** Dependencies of this module. */
export type OperatorWorkContext = Pick<JobContext, 'clock' | 'settings'> &
  StoreUse<'countBacklog' | 'listOriginMinutes' | 'listPauses' | 'listProcesses'>;

/** Time after the last heartbeat for which a process is listed, in milliseconds. */
const heartbeatMaxAgeMs = 60_000;

/** Period of the listed request counts of origins, in milliseconds. */
const originPeriodMs = 3_600_000;

/** Returns the operators' handlers for work, origins and settings. */
export function operatorWorkHandlers({ store, clock, settings }: OperatorWorkContext): [string, Handler][] {
  const { method } = OperatorService;
  return [
    handle(method.getWork, async () => ({
      backlog: await store.countBacklog(),
      processes: (await store.listProcesses(clock.now() - heartbeatMaxAgeMs)).map(processShape),
    })),
    handle(method.listOrigins, async () => {
      const minutes = await store.listOriginMinutes(clock.now() - originPeriodMs);
      const pauses = await store.listPauses();
      return { origins: originShapes({ origins: settings.origins, pauses, minutes }) };
    }),
    handle(method.listSettings, async () => ({
      settings: settings.effectiveSettings.map((setting) => ({ ...setting })),
    })),
  ];
}

function processShape(report: ProcessReport): MessageInitShape<typeof ProcessSchema> {
  const { startedAt, seenAt, memoryBytes, unitsDone, clockSkewMs, ...rest } = report;
  return {
    ...rest,
    startedAt: timestampFromMs(startedAt),
    seenAt: timestampFromMs(seenAt),
    memoryBytes: BigInt(memoryBytes),
    unitsDone: BigInt(unitsDone),
    clockSkewMs: BigInt(clockSkewMs),
  };
}
