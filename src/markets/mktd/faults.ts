import type { JsonObject } from '../../base/json.ts';
import { Fault } from '../../contract/fault.ts';
import { number, object, text } from '../fields.ts';
import { find, type HtmlPage, words } from '../html/html.ts';
import { anyOf } from '../patterns.ts';
import { unexpectedPage } from '../responses/unexpected-page.ts';

/** Markers of the captcha widget. Product pages contain the word "captcha" but none of these. */
const checkMarks = anyOf(
  [
    'secsdk-captcha',
    'captcha_verify_',
    'captcha-verify-image',
    'id="verify-ele"',
    '/captcha/verify',
  ],
  { flags: 'i' },
);
const checkTitles = /security check|verify|captcha|access denied|just a moment/i;
/**
 * Messages for a product that is withdrawn or sold elsewhere only, in the languages of the regions.
 */
const withdrawalWords = anyOf(
  [
    'not (?:available|for sale) in (?:this|the|your) (?:country|region)',
    'product (?:is )?(?:not available|no longer available|unavailable)',
    'no longer exists',
    'ไม่พร้อมใช้งาน',
    'produk (?:ini )?tidak tersedia',
    'tidak tersedia di (?:negara|wilayah)',
    'produk tidak ditemukan',
    'không (?:có sẵn|khả dụng|còn bán)',
    'sản phẩm không tồn tại',
  ],
  { flags: 'i' },
);

/** Messages of the site's own failures, which say nothing about the product. */
const trouble = anyOf(
  [
    'internal',
    'server',
    'system',
    'time.?out',
    'busy',
    'try again',
    'too many',
    'overload',
    'coba lagi',
    'thử lại',
    'ลองใหม่',
  ],
  { flags: 'i' },
);

const regionLocked = 23002102;

/**
 * Returns the fault for a page without product data: by the site's message, otherwise as
 * unexpectedPage().
 */
export function missingDataFault(html: string, page: HtmlPage): Fault {
  const title = words(find(page.root, 'title'));
  if (checkMarks.test(html) || (title !== null && checkTitles.test(title))) {
    return new Fault(
      'page_blocked',
      'the site asks for a security check instead of showing the product',
    );
  }
  const withdrawal = withdrawalWords.exec(words(find(page.root, 'body')) ?? '');
  if (withdrawal)
    return new Fault(
      'page_not_found',
      `the site does not offer this product in this region: "${withdrawal[0]}"`,
    );
  const cut = html.trim() !== '' && !/<\/html\s*>/i.test(html);
  if (cut || html.includes('_ROUTER_DATA')) {
    return new Fault(
      'page_unreadable',
      'the site sent a page without product data, or a part of one',
    );
  }
  return unexpectedPage(html, 'the product');
}

/** Returns the region of an address of the site. Undefined if it names none. */
function regionOf({ hostname, pathname }: URL): string | undefined {
  return (/^\/shop\/([a-z]{2})(?:\/|$)/.exec(pathname) ?? /^shop-([a-z]{2})\./.exec(hostname))?.[1];
}

/** Returns a function that accepts addresses of the site for other regions. */
export function createOtherRegionTest(region: string): (target: URL) => boolean {
  return (target) => ![undefined, region].includes(regionOf(target));
}

/**
 * Returns the fault for product data without a product. `page` is the route's data, `data` the
 * product's.
 */
export function missingProductFault(page: JsonObject, data: JsonObject): Fault {
  const code = number(data.error_code) ?? 0;
  const message = text(data.error_message)?.slice(0, 200);
  if (code === regionLocked) {
    return new Fault(
      'page_not_found',
      `the product is not available in this region (site error ${code})`,
    );
  }
  if (code !== 0) {
    const quoted = message === undefined ? '' : `: ${message}`;
    if (trouble.test(message ?? ''))
      return new Fault('page_failed', `the site returned error ${code}${quoted}`);
    return new Fault(
      'page_not_found',
      `the site does not show this product (site error ${code}${quoted})`,
    );
  }
  if (object(page.bot_info).is_bot === true) {
    return new Fault(
      'page_blocked',
      'the site classified the request as automated and left the product out',
    );
  }
  return new Fault('page_unreadable', 'the page has product data without a product in it');
}
