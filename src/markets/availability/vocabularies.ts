import { arabicAndHindi } from './vocabularies/arabic-and-hindi.ts';
import { chinese } from './vocabularies/chinese.ts';
import { eastern } from './vocabularies/eastern.ts';
import { english } from './vocabularies/english.ts';
import { filipino } from './vocabularies/filipino.ts';
import { finnishAndBaltic } from './vocabularies/finnish-and-baltic.ts';
import { french } from './vocabularies/french.ts';
import { german } from './vocabularies/german.ts';
import { indonesianAndMalay } from './vocabularies/indonesian-and-malay.ts';
import { italian } from './vocabularies/italian.ts';
import { japanese } from './vocabularies/japanese.ts';
import { korean } from './vocabularies/korean.ts';
import { northern } from './vocabularies/northern.ts';
import { portuguese } from './vocabularies/portuguese.ts';
import { slavic } from './vocabularies/slavic.ts';
import { spanish } from './vocabularies/spanish.ts';
import { thai } from './vocabularies/thai.ts';
import { vietnamese } from './vocabularies/vietnamese.ts';
import type { Vocabulary } from './word-kinds.ts';

/** Vocabularies of all languages in which texts about stock are understood. */
export const vocabularies: readonly Vocabulary[] = [
  english,
  german,
  french,
  italian,
  spanish,
  portuguese,
  northern,
  eastern,
  slavic,
  finnishAndBaltic,
  indonesianAndMalay,
  filipino,
  vietnamese,
  thai,
  chinese,
  japanese,
  korean,
  arabicAndHindi,
];
