import { type DescService, getOption } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import { AccountService } from '../../gen/gleaner/account/v1/account_pb.ts';
import { Access, access } from '../../gen/gleaner/options/v1/options_pb.ts';
import { Fault } from '../contract/fault.ts';
import { fromConnectError } from './fault-detail.ts';
import { type RemoteCore, remoteTimeoutMs } from './remote.ts';

/** Admits a caller to a service and returns the user's id, or '' for an operator. */
export type Admission = (
  service: DescService,
  authorization: string | null,
  signal: AbortSignal,
) => Promise<string>;

/**
 * Creates the admission of callers to a remote core. One GetAccount call checks the key and its role: the core refuses
 * it to operators with `forbidden`.
 */
export function createAdmission({ transport }: RemoteCore): Admission {
  const accounts = createClient(AccountService, transport);
  return async (service, authorization, signal) => {
    const headers = authorization === null ? {} : { authorization };
    const required = getOption(service, access);
    let userId: string;
    try {
      const { account } = await accounts.getAccount({}, { headers, signal, timeoutMs: remoteTimeoutMs });
      userId = account!.id;
    } catch (error) {
      const fault = fromConnectError(error);
      if (required !== Access.USER && fault.code === 'forbidden') return '';
      throw fault;
    }
    if (required === Access.OPERATOR) throw new Fault('forbidden', 'This call needs the key of an operator.');
    return userId;
  };
}
