import type { DescMethod } from '@bufbuild/protobuf';
import { ConnectError } from '@connectrpc/connect';
import { FaultSchema } from '../../../gen/gleaner/fault/v1/fault_pb.ts';
import { Fault } from '../../contract/fault.ts';
import { changesBalance } from './changes-balance.ts';
import { fromConnectError } from './fault-detail.ts';
import { placeInQuery } from './problem-locations.ts';

/**
 * Converts the error of a call to a remote core, with problems of submit options located as in REST. If the
 * core did not respond to a call that may change the caller's credits, the outcome is unknown unless the
 * connection could not even be made.
 */
export function faultOfCall(method: DescMethod, thrown: unknown): Fault {
  const fault = fromConnectError(thrown, (problems) => placeInQuery(method, problems));
  const error = ConnectError.from(thrown);
  const isAnswered = error.findDetails(FaultSchema).length > 0;
  if (isAnswered || !changesBalance(method) || isUnconnected(error.cause)) return fault;
  return new Fault(fault.code, fault.message, { component: 'core', cause: thrown, unknownOutcome: true });
}

function isUnconnected(cause: unknown): boolean {
  const { syscall } = (cause ?? {}) as NodeJS.ErrnoException;
  return syscall === 'connect' || syscall === 'getaddrinfo';
}
