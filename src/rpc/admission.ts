import { type DescService, getOption } from '@bufbuild/protobuf';
import { Access, access } from '../../gen/gleaner/options/v1/options_pb.ts';
import { Fault } from '../contract/fault.ts';
import { createAccountCheck } from './account-check.ts';
import { fromConnectError } from './fault-detail.ts';
import { type RemoteCore, remoteTimeoutMs } from './remote.ts';

/** Admits a caller to a service and returns the user's id, or '' for an operator. */
export type Admission = (
  service: DescService,
  authorization: string | null,
  signal: AbortSignal,
) => Promise<string>;

/**
 * Creates the admission of callers to a remote core. One GetAccount call checks the key, its role and its rate
 * limit: the core refuses it to operators with `forbidden`. The core counts the forwarded call only.
 */
export function createAdmission({ transport }: RemoteCore): Admission {
  const getAccount = createAccountCheck(transport);
  return async (service, authorization, signal) => {
    const headers = authorization === null ? {} : { authorization };
    const required = getOption(service, access);
    let userId: string;
    try {
      const account = await getAccount({ headers, signal, timeoutMs: remoteTimeoutMs });
      userId = account.id;
    } catch (error) {
      const fault = fromConnectError(error);
      if (required !== Access.USER && fault.code === 'forbidden') return '';
      throw fault;
    }
    if (required === Access.OPERATOR) throw new Fault('forbidden', 'This call needs the key of an operator.');
    return userId;
  };
}
