import type { PageRequest } from '../../fetch/page.ts';

/** Languages that a browser of a region names, by region code. */
const languages: Readonly<Record<string, string>> = {
  id: 'id-ID',
  my: 'en-MY',
  sg: 'en-SG',
  th: 'th-TH',
  vn: 'vi-VN',
  ph: 'en-PH',
};

/** Region codes of the market (interface, "What the service does"). */
export const regions: readonly string[] = Object.keys(languages);

/**
 * The request for a product's page. The shop of region id has moved to a site that knows the short path
 * only; elsewhere the path names the region. No credentials, nothing computed to pass for a browser.
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
