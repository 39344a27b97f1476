import type { DescMethod } from '@bufbuild/protobuf';
import { type CallOptions, createClient, type Transport } from '@connectrpc/connect';
import { type Session, SessionService } from '../../../gen/gleaner/session/v1/session_pb.ts';
import { fullName } from '../../jobs/job-types.ts';
import { type AdmissionTokens, admissionMetadata } from './admission-token.ts';

/**
 * Returns a function that checks the key in the `authorization` header with a remote core and returns what it
 * allows, without counting a request. With a method, checks that the key allows it. Throws a ConnectError.
 */
export function createKeyCheck({
  transport,
  admissions,
}: {
  transport: Transport;
  admissions: AdmissionTokens;
}): (
  options: CallOptions & { headers: Readonly<Record<string, string>> },
  method?: DescMethod,
) => Promise<Session> {
  const sessions = createClient(SessionService, transport);
  return async (options, method) => {
    const headers = {
      ...options.headers,
      [admissionMetadata]: admissions.sign(options.headers.authorization, method ? fullName(method) : ''),
    };
    return (await sessions.getSession({}, { ...options, headers })).session!;
  };
}
