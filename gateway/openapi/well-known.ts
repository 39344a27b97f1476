type Schema = Readonly<Record<string, unknown>>;

const string: Schema = { type: 'string' };
const object: Schema = { type: 'object' };

/** Schemas of the types with a special form in ProtoJSON, by name. */
export const wellKnownSchemas: Readonly<Record<string, Schema>> = {
  'google.protobuf.Duration': { ...string, pattern: '^-?\\d+(\\.\\d{1,9})?s$' },
  'google.protobuf.FieldMask': {
    ...string,
    description: 'Paths of fields in lowerCamel names, separated by commas.',
  },
  'google.protobuf.Struct': { ...object, additionalProperties: true },
  'google.protobuf.Value': {},
  'google.protobuf.ListValue': { type: 'array', items: {} },
  'google.protobuf.Empty': object,
  'google.protobuf.Any': {
    ...object,
    properties: { '@type': { ...string, description: 'URL of the type of the message.' } },
    required: ['@type'],
    additionalProperties: true,
  },
  'google.protobuf.StringValue': string,
  'google.protobuf.BytesValue': { ...string, contentEncoding: 'base64' },
  'google.protobuf.BoolValue': { type: 'boolean' },
  'google.protobuf.DoubleValue': { type: 'number', format: 'double' },
  'google.protobuf.FloatValue': { type: 'number', format: 'float' },
  'google.protobuf.Int32Value': { type: 'integer', format: 'int32' },
  'google.protobuf.UInt32Value': { type: 'integer', minimum: 0, maximum: 2 ** 32 - 1 },
  'google.protobuf.Int64Value': { ...string, format: 'int64' },
  'google.protobuf.UInt64Value': { ...string, format: 'uint64' },
};
