/**
 * Names of span attributes, from version 1.45.0 of OpenTelemetry's semantic conventions. Written
 * out because their package has thousands; a test compares them with it.
 */
export const attribute = {
  errorType: 'error.type',
  httpMethod: 'http.request.method',
  httpStatus: 'http.response.status_code',
  httpRoute: 'http.route',
  urlFull: 'url.full',
  urlPath: 'url.path',
  urlScheme: 'url.scheme',
  serverAddress: 'server.address',
  serverPort: 'server.port',
  rpcSystem: 'rpc.system.name',
  rpcMethod: 'rpc.method',
  rpcStatus: 'rpc.status_code',
  dbSystem: 'db.system.name',
  dbOperation: 'db.operation.name',
  messagingSystem: 'messaging.system.name',
  messagingDestination: 'messaging.destination.name',
  messagingOperation: 'messaging.operation.name',
  messagingOperationType: 'messaging.operation.type',
  messagingId: 'messaging.message.id',
} as const;

/** Address of the schema of these names. */
export const schemaUrl = 'https://opentelemetry.io/schemas/1.45.0';

/** Names of attributes that no convention covers. */
export const ownAttribute = {
  attempt: 'gleaner.attempt',
  batch: 'gleaner.batch',
  index: 'gleaner.unit_index',
  job: 'gleaner.job',
  kind: 'gleaner.kind',
  market: 'gleaner.market',
  region: 'gleaner.region',
  units: 'gleaner.units',
} as const;
