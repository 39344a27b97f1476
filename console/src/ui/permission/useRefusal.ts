import type { DescMethod } from '@bufbuild/protobuf';
import { refusalOf } from '../../../../src/contract/permission.ts';
import { useSession } from '../session/session.ts';

/** Returns why the session's key does not allow a call; null if it does. */
export function useRefusal(method: DescMethod): string | null {
  return refusalOf(method, useSession());
}
