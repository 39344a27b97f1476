import { gunzipSync } from 'node:zlib';
import type { DescMessage, DescMethodUnary, MessageInitShape } from '@bufbuild/protobuf';
import type { GleanerClient, Submitted } from '../../clients/typescript/index.ts';
import { MktaService } from '../../gen/gleaner/mkta/v1/mkta_pb.ts';
import { MktbService } from '../../gen/gleaner/mktb/v1/mktb_pb.ts';
import { MktdService } from '../../gen/gleaner/mktd/v1/mktd_pb.ts';
import { plainIds } from '../../sandbox/mkta/ids.ts';
import { mkta } from '../../sandbox/mkta/index.ts';
import { mktb } from '../../sandbox/mktb/index.ts';
import { mktd } from '../../sandbox/mktd/index.ts';
import type { Origin } from '../../sandbox/origin.ts';
import type { ServedLog } from './served.ts';

// biome-ignore lint/suspicious/noExplicitAny: records and pages of every shape.
type Loose = any;

/** One entry of a result file. */
export interface FileEntry {
  subject: string;
  /** Values of the page that the record must contain. Null for an entry of a failed item. */
  facts: string[] | null;
}

/** A kind of job that the run submits. */
export interface ChaosWork {
  name: string;
  unitPrice: number;
  approval: boolean;
  /** Returns distinct subjects for a submission. Every twentieth does not exist on the site. */
  subjects(submit: number, items: number): string[];
  /** Submits with an idempotency key. */
  submit(
    client: GleanerClient,
    subjects: readonly string[],
    key: string,
  ): Promise<Submitted<unknown>>;
  /** Submits once without a key. Returns the job's UUID or its task id. */
  submitOnce(client: GleanerClient, subjects: readonly string[]): Promise<string>;
  /** Returns the subject of a unit from its input. */
  formatSubject(input: Loose): string;
  factsOf(record: Loose): string[];
  /**
   * Result files: one for the job, with or without entries for failed items, one per unit, or none.
   */
  file: 'all' | 'successes' | 'units' | 'none';
  entriesOf(bytes: Buffer): FileEntry[];
  /**
   * Subject whose page kills the process that reads it: its unit fails, and the others are not
   * affected.
   */
  poison?: string;
}

function workOf<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  requestOf: (subjects: readonly string[]) => MessageInitShape<I>,
  rest: Omit<ChaosWork, 'submit' | 'submitOnce'>,
): ChaosWork {
  return {
    ...rest,
    submit: (client, subjects, idempotencyKey) =>
      client.submit(method, requestOf(subjects), { idempotencyKey }),
    submitOnce: async (client, subjects) => {
      const reply = await client.call(method, requestOf(subjects));
      const { jobId, taskId } = reply as { jobId?: string; taskId?: number };
      return jobId ?? String(taskId);
    },
  };
}

const spacing = 10_000_000;

function itemIds(first: number, submit: number, items: number): string[] {
  const base = first + submit * spacing;
  return plainIds(items, base).map((id, at) =>
    String(at % 20 === 7 ? base + 1_000_800 + at * 1_000 : id),
  );
}

const pageFacts = ({ data }: Loose): string[] => [
  data.item.title,
  ...(data.item.models ?? []).map(({ model_id: id }: Loose) => String(id)),
];

const variantFacts = ({ title, models }: Loose): string[] => [
  title,
  ...models.map(({ modelId }: Loose) => String(modelId)),
];

const parseLines = (bytes: Buffer): Loose[] =>
  gunzipSync(bytes)
    .toString()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

/** Jobs with result files that also list failed items. */
export const variantWork: ChaosWork = workOf(
  MktaService.method.submitVariantSold,
  (ids) => ({ country: 'id', items: ids.map((itemId) => ({ itemId, shopId: '77' })) }),
  {
    name: 'variant_sold',
    unitPrice: 10,
    approval: true,
    subjects: (submit, items) => itemIds(30_000_000_000, submit, items),
    formatSubject: ({ item_id: id }) => id,
    factsOf: variantFacts,
    file: 'all',
    entriesOf: (bytes) =>
      JSON.parse(bytes.toString()).map((record: Loose) => ({
        subject: record.itemId,
        facts: typeof record.error === 'string' ? null : variantFacts(record),
      })),
  },
);

/** Kinds of jobs, in the order in which submissions cycle through them. */
export const works: readonly ChaosWork[] = [
  variantWork,
  workOf(
    MktdService.method.submitPdpBulk,
    (ids) => ({ items: ids.map((productId) => ({ productId, country: 'th' })) }),
    {
      name: 'pdp_bulk',
      unitPrice: 5,
      approval: false,
      subjects: (submit, items) => itemIds(1_729_000_000_000, submit, items),
      formatSubject: ({ product_id: id }) => id,
      factsOf: ({ product }) => [product.title],
      file: 'successes',
      entriesOf: (bytes) =>
        parseLines(bytes).map(({ item_id: subject, response }) => ({
          subject,
          facts: [response.product.title],
        })),
    },
  ),
  workOf(
    MktaService.method.submitGetPc,
    ([itemId]) => ({ region: 'sg', itemId: itemId!, shopId: '77' }),
    {
      name: 'get_pc',
      unitPrice: 8,
      approval: false,
      subjects: (submit) => itemIds(30_000_000_000, submit, 1),
      formatSubject: ({ item_id: id }) => id,
      factsOf: pageFacts,
      file: 'none',
      entriesOf: () => [],
    },
  ),
  workOf(
    MktbService.method.submitSearchBulk,
    (keywords) => ({ items: keywords.map((keyword) => ({ keyword })) }),
    {
      name: 'search_bulk',
      unitPrice: 6,
      approval: false,
      subjects: (submit, items) =>
        Array.from(
          { length: Math.min(50, Math.ceil(items / 40)) },
          (_, at) => `kopi ${submit} ${at}101`,
        ),
      formatSubject: ({ keyword }) => keyword,
      factsOf: () => [],
      file: 'units',
      entriesOf: (bytes) =>
        JSON.parse(bytes.toString()).map(({ keyword, products }: Loose) => ({
          subject: keyword,
          facts: products.map(({ id }: Loose) => String(id)),
        })),
    },
  ),
];

/** Creates the marketplaces of the works. Their responses are recorded in `log`. */
export function recordedOrigins(log: ServedLog): Origin[] {
  const readJson = (read: (page: Loose) => string[]) => (body: string) => {
    const page = JSON.parse(body);
    return page.error ? [] : read(page);
  };
  return [
    log.record(mkta, readJson(pageFacts)),
    log.record(mktd, (body) => [/<title>(.*?) - Shop<\/title>/.exec(body)?.[1] ?? '']),
    log.record(
      mktb,
      readJson((page: Loose) =>
        [page]
          .flat()
          .flatMap(({ data }: Loose) =>
            data.searchProductV5.data.products.map(({ id }: Loose) => String(id)),
          ),
      ),
    ),
  ];
}
