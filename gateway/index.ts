/** Serves Protobuf services as REST: see README.md. */

export type {
  CallContext,
  Caller,
  GatewayBudget,
  GatewayClock,
  GatewayLog,
  Session,
} from '../src/contract/caller.ts';
export type { PathForms } from './endpoint.ts';
export { createGateway, type ExtraPath, type GatewayOptions } from './gateway.ts';
export type { ApiInfo } from './openapi/document-options.ts';
export type { Exchange } from './request-context.ts';
export type { ShownBy } from './response/location.ts';
export type { CacheRetention, RetentionPolicy } from './response/response-cache.ts';
