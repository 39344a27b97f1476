import { fromBinary } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { createClient, createRouterTransport } from '@connectrpc/connect';
import { describe, expect, test } from 'vitest';
import { AccountService } from '../../../gen/gleaner/account/v1/account_pb.ts';
import {
  ServerReflection,
  type ServerReflectionRequest,
} from '../../../gen/grpc/reflection/v1/reflection_pb.ts';
import { routeReflection } from './reflection.ts';

const client = createClient(
  ServerReflection,
  createRouterTransport(routeReflection([AccountService])),
);

async function reflect(messageRequest: ServerReflectionRequest['messageRequest']) {
  async function* requests() {
    yield { messageRequest };
  }
  for await (const { messageResponse } of client.serverReflectionInfo(requests()))
    return messageResponse;
  throw new Error('no response');
}

/** Returns the name of the file that describes a symbol. */
async function fileOf(symbol: string): Promise<string> {
  const { case: kind, value } = await reflect({ case: 'fileContainingSymbol', value: symbol });
  if (kind !== 'fileDescriptorResponse') throw new Error(`${symbol} is not described: ${kind}`);
  return fromBinary(FileDescriptorProtoSchema, value.fileDescriptorProto[0]!).name;
}

describe('routeReflection()', () => {
  test('describes services, and the details of errors, which no method names', async () => {
    expect(await fileOf('gleaner.account.v1.AccountService.GetAccount')).toBe(
      'gleaner/account/v1/account.proto',
    );
    expect(await fileOf('gleaner.fault.v1.Fault')).toBe('gleaner/fault/v1/fault.proto');
    for (const detail of ['BadRequest', 'ErrorInfo', 'QuotaFailure', 'RetryInfo'])
      expect(await fileOf(`google.rpc.${detail}`)).toBe('google/rpc/error_details.proto');
  });

  test('reports unknown symbols', async () => {
    await expect(fileOf('gleaner.none.v1.None')).rejects.toThrow('is not described: errorResponse');
  });
});
