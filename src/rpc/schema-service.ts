import type { Message } from '@bufbuild/protobuf';
import { type GetSchemaRequest, SchemaService } from '../../gen/gleaner/schema/v1/schema_pb.ts';
import { Fault } from '../contract/fault.ts';
import { rowSchema } from '../formats/schema.ts';
import type { JobContext } from '../jobs/context.ts';
import { fullName, type Offer } from '../jobs/offers.ts';
import { placeColumnsOf, recordFieldsOf, rowColumnsOf } from '../jobs/queries/rows.ts';
import { type Handlers, handle } from './handlers.ts';
import { streamText } from './job-stream.ts';

/** Media type of JSON Schema. */
const schemaType = 'application/schema+json';

/** Returns the handlers of gleaner.schema.v1.SchemaService. */
export function schemaHandlers({ offers }: Pick<JobContext, 'offers'>): Handlers {
  const { method } = SchemaService;
  const known = new Map(
    Array.from(offers.methods.values(), ({ offer }) => offer)
      .filter((offer) => offer !== null)
      .map((offer) => [nameOf(offer), offer]),
  );
  return {
    unary: new Map([
      handle(method.listSchemas, async () => ({
        tables: Array.from(known.values(), (offer) => ({
          market: offer.market.name,
          kind: offer.kind.name,
          schemaPath: pathOf(offer),
          columns: rowColumnsOf(offer).map(({ name, type }) => ({ name, type })),
        })),
      })),
    ]),
    stream: new Map([
      [
        fullName(method.getSchema),
        async function* (request: Message) {
          const { market, kind } = request as GetSchemaRequest;
          const offer = known.get(`${market}/${kind}`);
          if (offer === undefined)
            throw new Fault('not_found', `There is no kind '${kind}' on a marketplace '${market}'.`);
          yield* streamText(schemaType, text(offer));
        },
      ],
    ]),
  };
}

const nameOf = ({ market, kind }: Offer) => `${market.name}/${kind.name}`;

const pathOf = (offer: Offer) => `/v1/schemas/${nameOf(offer)}`;

async function* text(offer: Offer): AsyncGenerator<string> {
  const about = { id: pathOf(offer), title: `Row of exported records of ${nameOf(offer)}` };
  yield `${JSON.stringify(rowSchema(about, placeColumnsOf(offer), recordFieldsOf(offer)), null, 2)}\n`;
}
