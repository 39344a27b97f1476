import { join } from 'node:path';
import { fromBinary } from '@bufbuild/protobuf';
import { BinaryReader } from '@bufbuild/protobuf/wire';
import { AnySchema } from '@bufbuild/protobuf/wkt';
import {
  type Client,
  credentials,
  loadPackageDefinition,
  Metadata,
  type ServiceClientConstructor,
  type ServiceError,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { type Fault, FaultSchema } from '../../../gen/gleaner/fault/v1/fault_pb.ts';
import { root } from '../service/service.ts';

/** A gRPC client built from the .proto files alone, as a user would build one. */
export interface GrpcClient {
  /** Calls `Method` of `package.Service`. Throws the ServiceError of grpc-js. */
  call(
    service: string,
    method: string,
    request: object,
    key: string | null,
    metadata?: object,
    // biome-ignore lint/suspicious/noExplicitAny: responses of every shape.
  ): Promise<any>;
  close(): void;
}

const files = [
  'gleaner/mkta/v1/mkta.proto',
  'gleaner/account/v1/account.proto',
  'gleaner/operator/v1/operator.proto',
  'health/v1/health.proto',
];
const includeDirs = [
  'proto',
  'node_modules/google-gax/build/protos',
  'node_modules/grpc-health-check/proto',
];

/** Creates a client of the core's port. */
export function createGrpcClient(port: string): GrpcClient {
  const definition = loadSync(files, {
    includeDirs: includeDirs.map((folder) => join(root, folder)),
    keepCase: true,
    longs: Number,
    enums: String,
    defaults: true,
    oneofs: true,
  });
  const packages = loadPackageDefinition(definition);
  const clients = new Map<string, Client>();
  const clientOf = (service: string): Client => {
    const known = clients.get(service);
    if (known) return known;
    const found = service
      .split('.')
      .reduce<unknown>((scope, name) => (scope as Record<string, unknown>)[name], packages);
    const client = new (found as ServiceClientConstructor)(
      `127.0.0.1:${port}`,
      credentials.createInsecure(),
    );
    clients.set(service, client);
    return client;
  };
  return {
    call(service, method, request, key, more = {}) {
      const metadata = new Metadata();
      if (key !== null) metadata.set('authorization', `Bearer ${key}`);
      for (const [name, value] of Object.entries(more)) metadata.set(name, String(value));
      const client = clientOf(service) as unknown as Record<
        string,
        (...parameters: unknown[]) => void
      >;
      return new Promise((resolve, reject) => {
        const options = { deadline: Date.now() + 20_000 };
        client[method]!(
          request,
          metadata,
          options,
          (error: ServiceError | null, response: unknown) =>
            error ? reject(error) : resolve(response),
        );
      });
    },
    close() {
      for (const client of clients.values()) client.close();
    },
  };
}

/**
 * Returns the gleaner.fault.v1.Fault among the details of an error (field 3 of google.rpc.Status),
 * if any.
 */
export function readFault(error: ServiceError): Fault | null {
  const [status] = error.metadata.get('grpc-status-details-bin');
  if (!Buffer.isBuffer(status)) return null;
  const reader = new BinaryReader(status);
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (field !== 3) {
      reader.skip(wireType);
      continue;
    }
    const detail = fromBinary(AnySchema, reader.bytes());
    if (detail.typeUrl.endsWith(FaultSchema.typeName)) return fromBinary(FaultSchema, detail.value);
  }
  return null;
}
