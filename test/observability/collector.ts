import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { BinaryReader } from '@bufbuild/protobuf/wire';

/** A span as a collector receives it. */
export interface ReceivedSpan {
  traceId: string;
  id: string;
  /** Empty for the first span of a trace. */
  parentId: string;
  name: string;
  /** Number of the kind in OTLP: 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  kind: number;
  attributes: Readonly<Record<string, string>>;
  /** Attributes of the process. */
  resource: Readonly<Record<string, string>>;
  schemaUrl: string;
}

/** A collector of traces over OTLP/HTTP with Protobuf. */
export interface Collector {
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  close(): Promise<void>;
}

/** Starts a collector on a free port. */
export async function startCollector(): Promise<Collector> {
  const spans: ReceivedSpan[] = [];
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    const isExport =
      request.url === '/v1/traces' && request.headers['content-type'] === 'application/x-protobuf';
    if (isExport)
      spans.push(
        ...readRequest(request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body),
      );
    response.writeHead(isExport ? 200 : 404, { 'content-type': 'application/x-protobuf' }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Fields of a message by number: bytes, or the text of a number. */
type Fields = Map<number, (Uint8Array | string)[]>;

function readFields(bytes: Uint8Array): Fields {
  const reader = new BinaryReader(bytes);
  const fields: Fields = new Map();
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    const values = fields.get(number) ?? [];
    fields.set(number, values);
    if (type === 0) values.push(String(reader.int64()));
    else if (type === 1) values.push(String(reader.double()));
    else if (type === 2) values.push(reader.bytes());
    else values.push(String(reader.fixed32()));
  }
  return fields;
}

const bytesOf = (fields: Fields, number: number) => (fields.get(number) ?? []) as Uint8Array[];
const textOf = (fields: Fields, number: number) =>
  Buffer.from(bytesOf(fields, number)[0] ?? []).toString();
const hexOf = (fields: Fields, number: number) =>
  Buffer.from(bytesOf(fields, number)[0] ?? []).toString('hex');

/** Reads the attributes in a field of a message (opentelemetry.proto.common.v1.KeyValue). */
function attributesOf(fields: Fields, number: number): Record<string, string> {
  const entries = bytesOf(fields, number).map((bytes) => {
    const attribute = readFields(bytes);
    const [value] = [...readFields(bytesOf(attribute, 2)[0]!).values()];
    return [
      textOf(attribute, 1),
      typeof value![0] === 'string' ? value![0] : Buffer.from(value![0]!).toString(),
    ];
  });
  return Object.fromEntries(entries);
}

/** Reads an ExportTraceServiceRequest. */
function readRequest(body: Uint8Array): ReceivedSpan[] {
  return bytesOf(readFields(body), 1).flatMap((bytes) => {
    const ofResource = readFields(bytes);
    const resource = attributesOf(readFields(bytesOf(ofResource, 1)[0]!), 1);
    return bytesOf(ofResource, 2).flatMap((scope) => {
      const ofScope = readFields(scope);
      return bytesOf(ofScope, 2).map((span) => {
        const fields = readFields(span);
        return {
          traceId: hexOf(fields, 1),
          id: hexOf(fields, 2),
          parentId: hexOf(fields, 4),
          name: textOf(fields, 5),
          kind: Number(fields.get(6)?.[0]),
          attributes: attributesOf(fields, 9),
          resource,
          schemaUrl: textOf(ofScope, 3),
        };
      });
    });
  });
}
