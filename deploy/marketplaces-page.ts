// Writes docs/marketplaces.md, the table of marketplaces, from their declarations.
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { services } from '../src/contract/services.ts';
import { originPolicy } from '../src/fetch/policy.ts';
import { resolveOffers } from '../src/jobs/offers.ts';
import { kinds } from '../src/kinds/list.ts';
import { markets } from '../src/markets/list.ts';

/** Returns the text of docs/marketplaces.md. */
export function marketplacesPage(): string {
  const { methods } = resolveOffers(services, kinds, markets);
  const offers = new Set(methods.values().map(({ offer }) => offer));
  const rows = markets.map((market) => {
    const prices = [...offers]
      .filter((offer) => offer?.market === market)
      .map((offer) => `\`${offer!.kind.name}\` ${market.prices?.[offer!.kind.page] ?? offer!.kind.price}`);
    const policy = originPolicy(market.policy ?? {}, undefined);
    return [
      `\`${market.name}\``,
      market.regions.join(', ') || 'none',
      prices.join(', '),
      policy.requestsPerSecond,
      policy.concurrency,
      policy.robots ? 'respected' : 'ignored',
    ];
  });
  const header = [
    'marketplace',
    'regions',
    'kinds of jobs and credits per unit',
    'requests per second',
    'concurrent requests',
    'robots.txt',
  ];
  const line = (cells: readonly unknown[]) => `| ${cells.join(' | ')} |`;
  return `# Marketplaces

Each marketplace offers some kinds of jobs. The limits on requests apply per origin unless the origins file sets others
([fetching.md](fetching.md)). \`npm run gen\` writes this page.

${[header, header.map(() => '---'), ...rows].map(line).join('\n')}
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = join(dirname(fileURLToPath(import.meta.url)), '..');
  writeFileSync(join(root, 'docs/marketplaces.md'), marketplacesPage());
}
