import { create, type DescFile, type DescService, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { Code, type ConnectRouter } from '@connectrpc/connect';
import { FaultSchema } from '../../../gen/gleaner/fault/v1/fault_pb.ts';
import { file_google_rpc_error_details } from '../../../gen/google/rpc/error_details_pb.ts';
import {
  ServerReflection as ReflectionV1,
  type ServerReflectionRequest,
  ServerReflectionResponseSchema,
} from '../../../gen/grpc/reflection/v1/reflection_pb.ts';
import { ServerReflection as ReflectionV1Alpha } from '../../../gen/grpc/reflection/v1alpha/reflection_pb.ts';
import { Health } from '../../../gen/health/v1/health_pb.ts';
import { publicBodyBytes } from './adapter.ts';

/**
 * Serves gRPC server reflection, so that `buf curl` and grpcurl need no schema, not even for error
 * details. Both versions of the protocol have the same messages on the wire.
 */
export function routeReflection(services: readonly DescService[]): (router: ConnectRouter) => void {
  const all = [...services, Health, ReflectionV1, ReflectionV1Alpha];
  const files = new Map<string, DescFile>();
  const symbols = new Map<string, DescFile>();
  for (const service of all) addFile(service.file, files, symbols);
  // No method names the types of details.
  for (const file of [FaultSchema.file, file_google_rpc_error_details])
    addFile(file, files, symbols);
  const handle = (request: ServerReflectionRequest) => respond(request, all, files, symbols);
  const options = { readMaxBytes: publicBodyBytes };
  return (router) => {
    router.service(
      ReflectionV1,
      {
        async *serverReflectionInfo(requests) {
          for await (const request of requests) yield handle(request);
        },
      },
      options,
    );
    router.service(
      ReflectionV1Alpha,
      {
        async *serverReflectionInfo(requests) {
          for await (const request of requests)
            yield handle(request as unknown as ServerReflectionRequest) as never;
        },
      },
      options,
    );
  };
}

function addFile(
  file: DescFile,
  files: Map<string, DescFile>,
  symbols: Map<string, DescFile>,
): void {
  const name = file.proto.name;
  if (files.has(name)) return;
  files.set(name, file);
  for (const dependency of file.dependencies) addFile(dependency, files, symbols);
  for (const message of file.messages) symbols.set(message.typeName, file);
  for (const message of file.messages.flatMap((outer) => outer.nestedMessages))
    symbols.set(message.typeName, file);
  for (const enumeration of file.enums) symbols.set(enumeration.typeName, file);
  for (const extension of file.extensions) symbols.set(extension.typeName, file);
  for (const service of file.services) {
    symbols.set(service.typeName, file);
    for (const method of service.methods) symbols.set(`${service.typeName}.${method.name}`, file);
  }
}

function respond(
  request: ServerReflectionRequest,
  services: readonly DescService[],
  files: ReadonlyMap<string, DescFile>,
  symbols: ReadonlyMap<string, DescFile>,
) {
  const { case: requested, value } = request.messageRequest;
  const base = { validHost: request.host, originalRequest: request };
  const describe = (file: DescFile | undefined, name: string) =>
    create(ServerReflectionResponseSchema, {
      ...base,
      messageResponse: file
        ? {
            case: 'fileDescriptorResponse',
            value: { fileDescriptorProto: [toBinary(FileDescriptorProtoSchema, file.proto)] },
          }
        : {
            case: 'errorResponse',
            value: { errorCode: Code.NotFound, errorMessage: `'${name}' is not known` },
          },
    });
  switch (requested) {
    case 'listServices': {
      const service = services.map(({ typeName }) => ({ name: typeName }));
      return create(ServerReflectionResponseSchema, {
        ...base,
        messageResponse: { case: 'listServicesResponse', value: { service } },
      });
    }
    case 'fileByFilename':
      // Descriptors have file names without the extension.
      return describe(files.get(value) ?? files.get(value.replace(/\.proto$/, '')), value);
    case 'fileContainingSymbol':
      return describe(symbols.get(value), value);
    case 'fileContainingExtension': {
      const { containingType, extensionNumber } = value;
      const found = [...files.values()].find((file) =>
        file.extensions.some(
          ({ extendee, number }) =>
            extendee.typeName === containingType && number === extensionNumber,
        ),
      );
      return describe(found, `${containingType}:${extensionNumber}`);
    }
    case 'allExtensionNumbersOfType': {
      const extensionNumber = [...files.values()].flatMap((file) =>
        file.extensions
          .filter(({ extendee }) => extendee.typeName === value)
          .map(({ number }) => number),
      );
      const found = { baseTypeName: value, extensionNumber };
      return create(ServerReflectionResponseSchema, {
        ...base,
        messageResponse: { case: 'allExtensionNumbersResponse', value: found },
      });
    }
    default:
      return create(ServerReflectionResponseSchema, {
        ...base,
        messageResponse: {
          case: 'errorResponse',
          value: { errorCode: Code.InvalidArgument, errorMessage: 'the request is empty' },
        },
      });
  }
}
