import type { MessageInitShape } from '@bufbuild/protobuf';
import type { ResultFileSchema } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { fileName, type ResultFile } from '../../jobs/queries/results.ts';

/** Formats a result file for a response. */
export function toFileMessage({
  file,
  link,
  recordsLink,
  ...place
}: ResultFile): MessageInitShape<typeof ResultFileSchema> {
  return {
    ...place,
    name: fileName(file),
    contentType: file.contentType,
    items: file.items,
    bytes: BigInt(file.bytes),
    sha256: file.sha256,
    downloadUrl: link,
    recordsUrl: recordsLink,
  };
}
