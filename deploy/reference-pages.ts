// Writes the pages of docs that are tables of declarations: marketplaces.md and settings.md.
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { settings } from '../src/base/settings.ts';
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
  return `# Marketplaces

Each marketplace offers some kinds of jobs. The limits on requests apply per origin unless the origins file sets others
([fetching.md](fetching.md)). \`npm run gen\` writes this page.

${table(header, rows)}
`;
}

/** Returns the text of docs/settings.md. */
export function settingsPage(): string {
  const rows = Object.entries(settings).map(([name, setting]) => {
    const shown = setting.default ?? ('generated' in setting ? 'generated' : 'none');
    return [`\`${name}\`${'secret' in setting ? ' (secret)' : ''}`, `\`${shown}\``, setting.about];
  });
  return `# Settings

Every setting is an environment variable; [operate.md](operate.md#settings) explains how to set them. For a first installation you
need \`GLEANER_ORIGINS\`, and for access from other machines \`GLEANER_PUBLIC_URL\`. The standard variables of OpenTelemetry (\`OTEL_…\`) are
described with [metrics](operate.md#metrics) and [traces](operate.md#traces). \`npm run gen\` writes this page.

${table(['setting', 'default', 'meaning'], rows)}
`;
}

function table(header: readonly string[], rows: readonly (readonly unknown[])[]): string {
  return [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = join(dirname(fileURLToPath(import.meta.url)), '..');
  writeFileSync(join(root, 'docs/marketplaces.md'), marketplacesPage());
  writeFileSync(join(root, 'docs/settings.md'), settingsPage());
}
