import { create } from '@bufbuild/protobuf';
import { type ConnectRouter, createContextKey, type HandlerContext } from '@connectrpc/connect';
import { createAsyncIterable } from '@connectrpc/connect/protocol';
import {
  type ExportFileRequest,
  ExportFileRequestSchema,
  type ExportFileResponse,
  ExportFileResponseSchema,
  FileService,
  type RestoreFileRequest,
  RestoreFileRequestSchema,
  RestoreFileResponseSchema,
} from '../../../gen/gleaner/file/v1/file_pb.ts';
import type { HttpBody } from '../../../gen/google/api/httpbody_pb.ts';
import type { Log } from '../../base/log.ts';
import { Fault } from '../../contract/fault.ts';
import type { ConvertedFile, FileConversion, FilePlace, SignedFile } from '../../contract/files.ts';
import { streamText } from '../services/body-stream.ts';
import { publicBodyBytes } from './adapter.ts';
import { exchangeOf, headerOf } from './exchange.ts';
import { failCall, fromConnectError } from './fault-detail.ts';
import type { RemoteCore } from './remote.ts';
import { createRequestGate } from './request-gate.ts';

/** Metadata with the signed link that authorizes a call. */
const linkMetadata = 'gleaner-link';

/** Options of routeFileExport(). */
export interface FileExportOptions {
  exportFile(path: string, options: FileConversion): Promise<ConvertedFile>;
  restoreFile(path: string): Promise<FilePlace | null>;
  /** Verifies a link. Throws `link_invalid`. */
  verifyLink(link: string): Pick<SignedFile, 'path' | 'bearer'>;
  log: Log;
}

/** Path of the file of a call, set by the request gate. */
const pathKey = createContextKey('', { description: 'the path of the linked file' });

/**
 * Serves gleaner.file.v1 for separate gateways, which cannot read jobs. A signed link in the
 * metadata authorizes a call before its body is read. It must be valid without an API key: gateways
 * verify the keys.
 */
export function routeFileExport({ exportFile, restoreFile, verifyLink, log }: FileExportOptions) {
  const { exportFile: exporting, restoreFile: restoring } = FileService.method;
  const failed = (context: HandlerContext, thrown: unknown) =>
    failCall(log, exporting, context, thrown);
  const admit = async (context: HandlerContext) => {
    const { path, bearer } = verifyLink(headerOf(exchangeOf(context).request, linkMetadata) ?? '');
    if (bearer)
      throw new Fault('link_invalid', 'The link is not valid without the API key of its owner');
    context.values.set(pathKey, path);
    return '';
  };
  const options = { readMaxBytes: publicBodyBytes, requestGate: createRequestGate(admit, failed) };
  return (router: ConnectRouter): void => {
    router.rpc(
      restoring,
      async (_request: RestoreFileRequest, context: HandlerContext) => {
        try {
          const location = await restoreFile(context.values.get(pathKey));
          if (location === null) return create(RestoreFileResponseSchema);
          const { start, end, ...texts } = location;
          return create(RestoreFileResponseSchema, {
            ...texts,
            start: BigInt(start),
            end: BigInt(end),
          });
        } catch (error) {
          throw failCall(log, restoring, context, error);
        }
      },
      options,
    );
    router.rpc(
      exporting,
      async function* ({ format, only, columns }: ExportFileRequest, context: HandlerContext) {
        try {
          const { contentType, fileName, bytes } = await exportFile(context.values.get(pathKey), {
            format,
            only,
            columns,
          });
          yield create(ExportFileResponseSchema, { contentType, fileName });
          for await (const part of streamText(contentType, bytes)) {
            const { data } = part as HttpBody;
            if (data.length > 0) yield create(ExportFileResponseSchema, { data });
          }
        } catch (error) {
          throw failed(context, error);
        }
      },
      options,
    );
  };
}

/**
 * Creates a function that returns the records of a result file from a core in another process,
 * until its signal aborts. `sign` creates a link to a file that is valid without an API key. Throws
 * the faults of exportFile(), and `unavailable`.
 */
export function createRemoteExport(
  { transport }: Pick<RemoteCore, 'transport'>,
  sign: (path: string) => string,
) {
  return async (
    path: string,
    { format, only, columns }: FileConversion,
    signal: AbortSignal,
  ): Promise<ConvertedFile> => {
    const request = create(ExportFileRequestSchema, { format, only, columns });
    try {
      const headers = new Headers({ [linkMetadata]: sign(path) });
      const { message } = await transport.stream(
        FileService.method.exportFile,
        signal,
        undefined,
        headers,
        createAsyncIterable([request]),
      );
      const parts = message[Symbol.asyncIterator]();
      const first = await parts.next();
      if (first.done)
        throw new Fault('unavailable', 'The core sent no records.', { component: 'core' });
      const { contentType, fileName } = first.value;
      return { contentType, fileName, bytes: bytesOf(parts) };
    } catch (error) {
      throw fromConnectError(error);
    }
  };
}

/**
 * Creates a function that lets a core in another process restore a file. Throws the faults of
 * restoreFile(), and `unavailable`.
 */
export function createRemoteRestore(
  { transport }: Pick<RemoteCore, 'transport'>,
  sign: (path: string) => string,
) {
  return async (path: string): Promise<FilePlace | null> => {
    const headers = new Headers({ [linkMetadata]: sign(path) });
    const request = create(RestoreFileRequestSchema);
    try {
      const { message } = await transport.unary(
        FileService.method.restoreFile,
        undefined,
        undefined,
        headers,
        request,
      );
      if (message.path === '') return null;
      const { head, path: other, start, end, tail } = message;
      return {
        head,
        path: other,
        start: Number(start),
        end: Number(end),
        tail,
      };
    } catch (error) {
      throw fromConnectError(error);
    }
  };
}

async function* bytesOf(parts: AsyncIterator<ExportFileResponse>): AsyncGenerator<Uint8Array> {
  try {
    for (let next = await parts.next(); !next.done; next = await parts.next())
      yield next.value.data;
  } catch (error) {
    throw fromConnectError(error);
  }
}
