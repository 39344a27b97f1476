export interface MktaRegion {
  /** Suffix of the hosts of submitted URLs. */
  suffix: string;
  /** Time zone offset from UTC in minutes. */
  offsetMinutes: number;
  /** Value of the `accept-language` header. */
  language: string;
}

/** Regions of the market by code. */
export const regions: Readonly<Record<string, MktaRegion>> = {
  id: { suffix: '.co.id', offsetMinutes: 420, language: 'id' },
  sg: { suffix: '.sg', offsetMinutes: 480, language: 'en' },
  th: { suffix: '.co.th', offsetMinutes: 420, language: 'th' },
  ph: { suffix: '.ph', offsetMinutes: 480, language: 'en' },
  my: { suffix: '.com.my', offsetMinutes: 480, language: 'en' },
  vn: { suffix: '.vn', offsetMinutes: 420, language: 'vi' },
  tw: { suffix: '.tw', offsetMinutes: 480, language: 'zh-Hant' },
  br: { suffix: '.com.br', offsetMinutes: -180, language: 'pt-BR' },
};

/**
 * Returns the headers of every request to a region, without credentials or computed anti-bot
 * values.
 */
export function requestHeaders(region: string): Record<string, string> {
  const language = regions[region]?.language ?? 'en';
  return { accept: 'application/json', 'accept-language': language, 'x-api-source': 'pc' };
}
