import {
  allById,
  type Element,
  find,
  findAll,
  type HtmlPage,
  oneLine,
  words,
} from '../html/html.ts';

export interface Specification {
  name: string;
  value: string;
}

/** Tables whose rows are a name and a value. */
const tableIds = [
  'productOverview_feature_div',
  'poExpander',
  'productDetails_techSpec_section_1',
  'productDetails_techSpec_section_2',
  'productDetails_detailBullets_sections1',
  'technicalSpecifications_section_1',
  'prodDetails',
  'tech',
];
/** Lists whose items are a bold name and a value. */
const listIds = [
  'detailBullets_feature_div',
  'detail-bullets',
  'detailBulletsWrapper_feature_div',
  'productDetailsTable',
];

function cleaned(name: string | null): string | null {
  return oneLine((name ?? '').replace(/[:：]\s*$/, ''));
}

/** Rows about reviews repeat the page's rating. */
function isReviews(element: Element): boolean {
  return (
    find(
      element,
      '#averageCustomerReviews, #acrPopover, [id^="averageCustomerReviews"], #acrCustomerReviewLink',
    ) !== undefined
  );
}

function pair(name: string | null, value: string | null): Specification[] {
  const label = cleaned(name);
  return label === null || value === null ? [] : [{ name: label, value }];
}

function fromRow(row: Element): Specification[] {
  const cells = row.children.filter(
    (cell): cell is Element => 'attribs' in cell && /^t[hd]$/.test(cell.name),
  );
  if (cells.length < 2 || isReviews(row)) return [];
  return pair(words(cells[0]), words(cells[1]));
}

function fromBullet(bullet: Element): Specification[] {
  const label = find(bullet, 'b, .a-text-bold');
  if (!label || isReviews(bullet)) return [];
  return pair(
    words(label),
    words(bullet, (element) => element === label)?.replace(/^[:：]\s*/, '') ?? null,
  );
}

function fromFact(fact: Element): Specification[] {
  return pair(words(find(fact, '.a-col-left')), words(find(fact, '.a-col-right')));
}

function fromAttribute(card: Element): Specification[] {
  return pair(words(find(card, '.rpi-attribute-label')), words(find(card, '.rpi-attribute-value')));
}

/**
 * Returns every name and value that the page lists about the product: overview, details and
 * specification tables, detail bullets, clothing facts and book attributes, grouped in this order,
 * without duplicate names.
 */
export function readSpecifications(page: HtmlPage): Specification[] {
  const within = (ids: readonly string[]) => ids.flatMap((id) => allById(page, id));
  const rows = [...within(tableIds), ...findAll(page.root, 'table.prodDetTable')].flatMap((table) =>
    findAll(table, 'tr'),
  );
  const bullets = within(listIds).flatMap((block) => findAll(block, 'li'));
  const facts = findAll(page.root, '.product-facts-detail');
  const cards = findAll(page.root, '.rpi-carousel-attribute-card');
  const found = [
    ...rows.flatMap(fromRow),
    ...bullets.flatMap(fromBullet),
    ...facts.flatMap(fromFact),
    ...cards.flatMap(fromAttribute),
  ];
  const byName = new Map<string, Specification>();
  for (const specification of found)
    if (!byName.has(specification.name)) byName.set(specification.name, specification);
  return [...byName.values()];
}
