import { type DescMethod, getOption } from '@bufbuild/protobuf';
import { job, rest, Step } from '../../gen/gleaner/options/v1/options_pb.ts';

/** Maximum decoded body of a submission that declares no limit, in bytes. */
const submitBytes = 16 * 1024 * 1024;

/** Maximum decoded body of every other method, in bytes: ids, names and settings. */
export const smallBodyBytes = 64 * 1024;

/**
 * Returns the maximum request body of a method in bytes, on every edge, before and after
 * decompression: the option `max_body_bytes`, 16 MB for methods that submit, and 64 KB for other
 * methods.
 */
export function maxBodyBytes(method: DescMethod): number {
  const declared = Number(getOption(method, rest).maxBodyBytes);
  return declared || (getOption(method, job).step === Step.SUBMIT ? submitBytes : smallBodyBytes);
}
