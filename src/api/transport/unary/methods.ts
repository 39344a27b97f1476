import type { DescMessage, DescMethod, DescMethodUnary } from '@bufbuild/protobuf';
import type { ConnectRouter, HandlerContext, MethodImpl } from '@connectrpc/connect';
import {
  createMethodSerializationLookup,
  createMethodUrl,
  type MethodSerializationLookup,
  type UniversalHandlerOptions,
  validateReadWriteMaxBytes,
} from '@connectrpc/connect/protocol';
import { maxBodyBytes } from '../../../contract/body-limit.ts';

type Options = Partial<UniversalHandlerOptions>;

/** A unary method and its handler. */
export interface UnaryMethod {
  method: DescMethodUnary;
  handle: MethodImpl<DescMethodUnary>;
  /** Admits the caller before the body is read. */
  gate: ((context: HandlerContext) => void | Promise<void>) | undefined;
  /** Maximum size of a message, in bytes. */
  limit: number;
  serialization: MethodSerializationLookup<DescMessage, DescMessage>;
  json: Options['jsonOptions'];
}

/**
 * Wraps a router so that unary methods of its routes are also in `methods`, by the path of their
 * requests.
 */
export function recordUnary(
  router: ConnectRouter,
  defaults: Options,
  methods: Map<string, UnaryMethod>,
): ConnectRouter {
  const record = (method: DescMethod, handle: unknown, own: Options = {}) => {
    if (method.methodKind !== 'unary' || handle === undefined) return;
    const options = { ...defaults, ...own };
    const { readMaxBytes: limit = maxBodyBytes(method), jsonOptions: json } = options;
    const sizes = validateReadWriteMaxBytes(limit, options.writeMaxBytes, undefined);
    methods.set(createMethodUrl('/', method), {
      method: method as DescMethodUnary,
      handle: handle as UnaryMethod['handle'],
      gate: options.requestGate,
      limit,
      serialization: createMethodSerializationLookup(method, options.binaryOptions, json, sizes),
      json,
    });
  };
  const recorded: ConnectRouter = {
    handlers: router.handlers,
    service(service, implementation, options) {
      router.service(service, implementation, options);
      const handlers = implementation as Record<string, unknown>;
      for (const method of service.methods) record(method, handlers[method.localName], options);
      return recorded as never;
    },
    rpc(method, handle, options) {
      router.rpc(method, handle, options);
      record(method, handle, options);
      return recorded as never;
    },
  };
  return recorded;
}
