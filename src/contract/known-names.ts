import { getOption } from '@bufbuild/protobuf';
import {
  market as marketOption,
  title as titleOption,
} from '../../gen/gleaner/options/v1/options_pb.ts';
import { marketServices } from '../../gen/services.ts';

/** Names of the marketplaces by their path segments. */
const marketNames: ReadonlyMap<string, string> = new Map(
  marketServices.map((service) => [
    getOption(service, marketOption),
    kebabCase(getOption(service, titleOption)),
  ]),
);

/**
 * Other names of the regions in requests, in lower case: their English name and their own, and
 * their codes in ISO 3166-1.
 */
const regionNames: ReadonlyMap<string, readonly string[]> = new Map([
  ['au', ['australia', 'aus']],
  ['br', ['brazil', 'brasil', 'bra']],
  ['ca', ['canada', 'can']],
  ['de', ['germany', 'deutschland', 'deu']],
  ['es', ['spain', 'españa', 'esp']],
  ['fr', ['france', 'fra']],
  ['id', ['indonesia', 'idn']],
  ['it', ['italy', 'italia', 'ita']],
  ['jp', ['japan', '日本', 'jpn']],
  ['my', ['malaysia', 'mys']],
  ['ph', ['philippines', 'phl']],
  ['sg', ['singapore', 'sgp']],
  ['th', ['thailand', 'tha']],
  ['tw', ['taiwan', 'twn']],
  ['uk', ['united kingdom', 'great britain', 'gb', 'gbr']],
  ['us', ['united states', 'united states of america', 'usa']],
  ['vn', ['vietnam', 'viet nam', 'vnm']],
]);

/** Region of a language tag, such as "de-DE". */
const languageRegion = /^[a-z]{2}[-_]([a-z]{2})$/;

/**
 * Returns the choice that a text names in other words, or undefined. A choice has the same letters
 * and digits in any case ("mkt-e"), or it is a marketplace or a region whose name or code the text
 * is: "Amazon", "TikTok", "Germany", "de-DE".
 */
export function namedChoice(text: string, choices: readonly string[]): string | undefined {
  if (text.length > maxLength) return undefined;
  const name = text.trim().toLowerCase();
  if (choices.includes(name)) return name;
  const key = keyOf(name);
  if (key === '') return undefined;
  const region = languageRegion.exec(name)?.[1] ?? name;
  for (const choice of choices)
    if (keyOf(choice.toLowerCase()) === key || isRegion(choice, region) || isMarket(choice, name))
      return choice;
  return undefined;
}

/** Longer texts name no choice. */
const maxLength = 64;

const keyOf = (name: string): string => name.replaceAll(/[^\p{L}\p{N}]/gu, '');

const isRegion = (choice: string, name: string): boolean =>
  choice === name || (regionNames.get(choice)?.includes(name) ?? false);

/** Returns true for the name of a marketplace, or the first words of it. */
const isMarket = (choice: string, name: string): boolean =>
  `${marketNames.get(choice) ?? ''}-`.startsWith(`${kebabCase(name)}-`);

function kebabCase(title: string): string {
  return title.toLowerCase().replaceAll(' ', '-');
}
