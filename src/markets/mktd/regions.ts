import type { PageRequest } from '../../fetch/page.ts';

/** Values of the `accept-language` header by region. */
const languages: Readonly<Record<string, string>> = {
  id: 'id-ID',
  my: 'en-MY',
  sg: 'en-SG',
  th: 'th-TH',
  vn: 'vi-VN',
  ph: 'en-PH',
};

/** Region codes of the market (docs/marketplaces.md). */
export const regions: readonly string[] = Object.keys(languages);

/**
 * Builds the request for a product page. The shop of region id moved to a site with short paths;
 * isOtherRegion the path names the region. It has no credentials or computed anti-bot values.
 */
export function productRequest(productId: string, region: string): PageRequest {
  const id = encodeURIComponent(productId);
  const path = region === 'id' ? `/view/product/${id}` : `/shop/${encodeURIComponent(region)}/pdp/${id}`;
  return {
    path: `${path}?region=${encodeURIComponent(region.toUpperCase())}`,
    headers: { accept: 'text/html', 'accept-language': languages[region] ?? 'en' },
    redirects: 'same_origin',
  };
}
