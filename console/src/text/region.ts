const countries = new Intl.DisplayNames('en', { type: 'region' });

/** Formats the code of a region: "Indonesia (id)". */
export const regionText = (region: string): string =>
  `${countries.of(region.toUpperCase()) ?? region} (${region})`;
