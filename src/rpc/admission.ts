import { type DescMethod, getOption } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import { Access, access } from '../../gen/gleaner/options/v1/options_pb.ts';
import { SessionService } from '../../gen/gleaner/session/v1/session_pb.ts';
import { forwardedForHeader } from '../base/client-address.ts';
import { fullName } from '../jobs/offers.ts';
import { createAccountCheck } from './account-check.ts';
import { admissionMetadata } from './admission-token.ts';
import { fromConnectError } from './fault-detail.ts';
import { type RemoteCore, remoteTimeoutMs } from './remote.ts';

/** Request headers that name the caller. */
const callerHeaders = ['authorization', forwardedForHeader];

/** Admits a caller to a method. Returns the user's id for a method of users, else ''. */
export type Admission = (method: DescMethod, requestHeader: Headers, signal: AbortSignal) => Promise<string>;

/**
 * Creates the admission of callers to a remote core. One call checks the key, whether it allows the method, and its rate
 * limit: GetAccount for methods of users, else GetSession. The core counts the forwarded call only.
 */
export function createAdmission({ transport, admissions }: RemoteCore): Admission {
  const getAccount = createAccountCheck({ transport, admissions });
  const sessions = createClient(SessionService, transport);
  return async (method, requestHeader, signal) => {
    const headers: Record<string, string> = {};
    for (const name of callerHeaders) {
      const value = requestHeader.get(name);
      if (value !== null) headers[name] = value;
    }
    const options = { headers, signal, timeoutMs: remoteTimeoutMs };
    try {
      if (getOption(method.parent, access) === Access.USER) return (await getAccount(options, method)).id;
      headers[admissionMetadata] = admissions.sign(headers.authorization, fullName(method));
      await sessions.getSession({}, options);
      return '';
    } catch (error) {
      throw fromConnectError(error);
    }
  };
}
