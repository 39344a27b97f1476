import type { JsonObject } from '../../base/json.ts';
import { Fault } from '../../contract/fault.ts';
import { pathPart } from '../../contract/path-part.ts';
import type { PageRequest, PageResponse } from '../../fetch/page.ts';
import { objects, text } from '../fields.ts';
import type { ReadContext, RecordReader } from '../market.ts';
import { type Envelope, parseEnvelope } from './faults.ts';
import { headers, productPage } from './site.ts';
import { impersonal, readItems, readSummary } from './summary.ts';

function pathOf(input: JsonObject, page: string): string {
  return `/backend/product-detail/products/${pathPart(String(input.formattedId).trim())}/${page}`;
}

function summaryRequest(input: JsonObject): PageRequest {
  const query = new URLSearchParams({
    // Without one, the site chooses its default.
    pickupPointCode: text(input.pickupPointCode) ?? '',
    cnc: 'false',
    defaultItemSku: text(input.sku)?.trim() ?? '',
    fetchAllAvailability: 'true',
  });
  return { path: `${pathOf(input, '_summary')}?${query}`, headers, page: productPage(input) };
}

function descriptionRequest(input: JsonObject): PageRequest {
  return { path: pathOf(input, 'description'), headers, page: productPage(input) };
}

/** Returns an id without its prefix and pickup point, in upper case. */
function bare(id: unknown): string | null {
  const found = /^(?:[a-z]{2}--)?(.+?)(?:[_-]PP-\w+)?$/i.exec(text(id)?.trim() ?? '')?.[1];
  return found?.toUpperCase() ?? null;
}

/**
 * Checks that a page is about the product of `formattedId` and, if that or `sku` names one item,
 * about that item: its siblings have other prices and stock. Throws `page_mismatch`.
 */
function checkIdentity(data: JsonObject, input: JsonObject): void {
  const item = bare(data.itemSku);
  const inAddress = /\/((?:is|ps|pc)--[^/?#]+)/i.exec(text(data.url) ?? '')?.[1];
  const family = [
    data.productSku,
    data.productCode,
    data.itemCode,
    data.formattedId,
    inAddress,
  ].map(bare);
  const variants = objects(data.options).map(({ id }) => bare(id));
  const statedIds = [item, ...family, ...variants].filter((id) => id !== null);
  if (statedIds.length === 0) throw new Fault('page_unreadable', 'the response names no product');
  const requestedId = bare(input.formattedId);
  if (requestedId !== null && !statedIds.includes(requestedId)) {
    throw new Fault(
      'page_mismatch',
      `requested product ${requestedId}, got ${family[0] ?? item ?? statedIds[0]}`,
    );
  }
  const oneItem = text(input.formattedId)?.trim().toLowerCase().startsWith('is--')
    ? requestedId
    : null;
  for (const requestedSku of [bare(input.sku), oneItem]) {
    if (
      requestedSku === null ||
      item === null ||
      requestedSku === item ||
      family.includes(requestedSku)
    )
      continue;
    throw new Fault('page_mismatch', `requested item ${requestedSku}, got ${item}`);
  }
}

interface Page {
  envelope: Envelope;
  summary: JsonObject;
}

function pageOf(response: PageResponse, input: JsonObject): Page {
  const envelope = parseEnvelope(response, 'product');
  if (text(envelope.data.name) === null)
    throw new Fault('page_unreadable', 'the response names no product');
  checkIdentity(envelope.data, input);
  return { envelope, summary: readSummary(envelope.data) };
}

function recordOf({ envelope, summary }: Page, described: JsonObject): JsonObject {
  const { status, code, message, data } = envelope;
  return {
    status,
    statusCode: code,
    message,
    data: { summary: { description: null, ...described, ...summary }, items: readItems(data) },
  };
}

/**
 * Fetches the description. Returns nothing if the request fails, because a page without it is still
 * valid.
 */
async function descriptionOf(input: JsonObject, { fetch }: ReadContext): Promise<JsonObject> {
  try {
    const { data } = parseEnvelope(await fetch(descriptionRequest(input)), 'description');
    const description = text(data.description) ?? text(data.value) ?? text(data.content);
    return { ...impersonal(data), description };
  } catch (thrown) {
    if (thrown instanceof Fault) return {};
    throw thrown;
  }
}

/**
 * Reads a product page: `{status, statusCode, message, data: {summary, items}}` of the site's
 * envelope, with listed fields mapped and the page's options as `items`
 * (docs/kinds/product-pages-bulk.md). `read` adds the description, which is a separate request.
 * Prices are in rupiah. `input` has `formattedId`, `sku` and `pickupPointCode`.
 */
export const product: RecordReader = {
  sort: 'record',
  // The description is a second request.
  requestsPerUnit: 2,
  async read(input, context) {
    const page = pageOf(await context.fetch(summaryRequest(input)), input);
    const described =
      page.summary.description === undefined ? await descriptionOf(input, context) : {};
    return recordOf(page, described);
  },
  extract: (response, input) => recordOf(pageOf(response, input), {}),
};
