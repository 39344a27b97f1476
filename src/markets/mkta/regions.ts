/** What differs from region to region. */
export interface Region {
  /** Suffix of the hosts of submitted URLs (decisions, "mkta URLs"). */
  suffix: string;
  /** Minutes that the region's clocks are ahead of UTC. */
  offsetMinutes: number;
  /** Language that a browser of the region names. */
  language: string;
}

/** The regions of the market by code. */
export const regions: Readonly<Record<string, Region>> = {
  id: { suffix: '.co.id', offsetMinutes: 420, language: 'id' },
  sg: { suffix: '.sg', offsetMinutes: 480, language: 'en' },
  th: { suffix: '.co.th', offsetMinutes: 420, language: 'th' },
  ph: { suffix: '.ph', offsetMinutes: 480, language: 'en' },
  my: { suffix: '.com.my', offsetMinutes: 480, language: 'en' },
  vn: { suffix: '.vn', offsetMinutes: 420, language: 'vi' },
  tw: { suffix: '.tw', offsetMinutes: 480, language: 'zh-Hant' },
  br: { suffix: '.com.br', offsetMinutes: -180, language: 'pt-BR' },
};

/** Headers of every request to a region. No credentials and nothing computed to pass for a browser. */
export function requestHeaders(region: string): Record<string, string> {
  const language = regions[region]?.language ?? 'en';
  return { accept: 'application/json', 'accept-language': language, 'x-api-source': 'pc' };
}
