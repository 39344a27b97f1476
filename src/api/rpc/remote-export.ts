import { create } from '@bufbuild/protobuf';
import {
  ExportFileRequestSchema,
  type ExportFileResponse,
  FileService,
} from '../../../gen/gleaner/file/v1/file_pb.ts';
import { Fault } from '../../contract/fault.ts';
import type { Export, ExportedFile } from '../../jobs/queries/files.ts';
import { fromConnectError } from './fault-detail.ts';
import { linkMetadata } from './file-export.ts';
import type { RemoteCore } from './remote.ts';

/**
 * Creates a function that returns the records of a result file from a core in another process, until its
 * signal aborts. `sign` creates a link to a file that is valid without an API key. Throws the faults of
 * exportFile(), and `unavailable`.
 */
export function createRemoteExport(
  { transport }: Pick<RemoteCore, 'transport'>,
  sign: (path: string) => string,
) {
  return async (
    path: string,
    { format, only, columns }: Export,
    signal: AbortSignal,
  ): Promise<ExportedFile> => {
    const request = (async function* () {
      yield create(ExportFileRequestSchema, { format, only, columns });
    })();
    try {
      const headers = new Headers({ [linkMetadata]: sign(path) });
      const { message } = await transport.stream(
        FileService.method.exportFile,
        signal,
        undefined,
        headers,
        request,
      );
      const parts = message[Symbol.asyncIterator]();
      const first = await parts.next();
      if (first.done) throw new Fault('unavailable', 'The core sent no records.', { component: 'core' });
      const { contentType, fileName } = first.value;
      return { contentType, fileName, bytes: bytesOf(parts) };
    } catch (error) {
      throw toFault(error);
    }
  };
}

async function* bytesOf(parts: AsyncIterator<ExportFileResponse>): AsyncGenerator<Uint8Array> {
  try {
    for (let next = await parts.next(); !next.done; next = await parts.next()) yield next.value.data;
  } catch (error) {
    throw toFault(error);
  }
}

const toFault = (error: unknown): Fault => (error instanceof Fault ? error : fromConnectError(error));
