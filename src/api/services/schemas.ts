import type { Message } from '@bufbuild/protobuf';
import { type GetSchemaRequest, SchemaService } from '../../../gen/gleaner/schema/v1/schema_pb.ts';
import { Fault } from '../../contract/fault.ts';
import { rowSchema } from '../../formats/schema.ts';
import type { JobContext } from '../../jobs/context.ts';
import type { ResolvedJobType } from '../../jobs/job-types.ts';
import { placeColumnsOf, recordFieldsOf, rowColumnsOf } from '../../jobs/queries/rows.ts';
import { streamText } from './body-stream.ts';
import { type Handlers, handle } from './handlers.ts';

/** Media type of JSON Schema. */
const schemaType = 'application/schema+json';

/** Returns the handlers of gleaner.schema.v1.SchemaService. */
export function schemaHandlers({ jobTypes }: JobContext): Handlers {
  const { method } = SchemaService;
  const schemas = new Map(
    Array.from(jobTypes.methods.values(), ({ jobType }) => jobType)
      .filter((jobType) => jobType !== null)
      .map((jobType) => [nameOf(jobType), jobType]),
  );
  return {
    unary: new Map([
      handle(method.listSchemas, async () => ({
        tables: Array.from(schemas.values(), (jobType) => ({
          market: jobType.market.name,
          kind: jobType.kind.name,
          schemaPath: pathOf(jobType),
          columns: rowColumnsOf(jobType).map(({ name, type }) => ({ name, type })),
        })),
      })),
    ]),
    stream: new Map([
      [
        method.getSchema,
        async function* (request: Message) {
          const { market, kind } = request as GetSchemaRequest;
          const jobType = schemas.get(`${market}/${kind}`);
          if (jobType === undefined)
            throw new Fault(
              'not_found',
              `There is no kind '${kind}' on a marketplace '${market}'.`,
            );
          yield* streamText(schemaType, text(jobType));
        },
      ],
    ]),
  };
}

const nameOf = ({ market, kind }: ResolvedJobType) => `${market.name}/${kind.name}`;

const pathOf = (jobType: ResolvedJobType) => `/v1/schemas/${nameOf(jobType)}`;

async function* text(jobType: ResolvedJobType): AsyncGenerator<string> {
  const about = { id: pathOf(jobType), title: `Row of exported records of ${nameOf(jobType)}` };
  const schema = rowSchema(about, placeColumnsOf(jobType), recordFieldsOf(jobType));
  yield `${JSON.stringify(schema, null, 2)}\n`;
}
