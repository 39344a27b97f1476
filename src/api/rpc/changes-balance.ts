import { type DescMethod, getOption, hasOption } from '@bufbuild/protobuf';
import { http } from '../../../gen/google/api/annotations_pb.ts';

/** Returns true if a call may change its caller's credits: its REST method is not GET. */
export function changesBalance(method: DescMethod): boolean {
  return hasOption(method, http) && getOption(method, http).pattern.case !== 'get';
}
