import { Code, ConnectError, type ConnectRouter } from '@connectrpc/connect';
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
} from '../../../gen/health/v1/health_pb.ts';
import type { Clock } from '../../base/clock.ts';
import type { Core } from '../services/core.ts';
import { publicBodyBytes } from './adapter.ts';

/** Interval of the checks of a watch, in milliseconds. */
const watchMs = 5_000;

/**
 * Serves grpc.health.v1 for the server ('') and each service: SERVING while the engines respond.
 */
export function routeHealth(core: Core, clock: Clock): (router: ConnectRouter) => void {
  const names = new Set(['', ...core.services.map((service) => service.typeName)]);
  const statusOf = async () => {
    try {
      await core.ready();
      return Status.SERVING;
    } catch {
      return Status.NOT_SERVING;
    }
  };
  return (router) => {
    router.service(
      Health,
      {
        async check({ service }) {
          if (!names.has(service))
            throw new ConnectError(`There is no service '${service}'.`, Code.NotFound);
          return { status: await statusOf() };
        },
        async *watch({ service }, { signal }) {
          if (!names.has(service)) {
            yield { status: Status.SERVICE_UNKNOWN };
            return;
          }
          let last: Status | undefined;
          while (!signal.aborted) {
            const status = await statusOf();
            if (status !== last) yield { status };
            last = status;
            await clock.sleep(watchMs, signal).catch(() => {});
          }
        },
      },
      { readMaxBytes: publicBodyBytes },
    );
  };
}
