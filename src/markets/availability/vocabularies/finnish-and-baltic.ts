import type { Vocabulary } from '../word-kinds.ts';

export const finnishAndBaltic: Vocabulary = {
  stock: [
    'heti saatavilla',
    'lisää ostoskoriin',
    'laos',
    'laos olemas',
    'lisa ostukorvi',
    'pieejams',
    'ir noliktavā',
    'noliktavā',
    'pievienot grozam',
    'yra sandėlyje',
    'sandėlyje',
    'į krepšelį',
  ],
  gone: [
    'loppu varastosta',
    'loppuunmyyty',
    'otsas',
    'läbi müüdud',
    'izpārdots',
    'išparduota',
    'išpirkta',
  ],
  noun: ['saatavuus', 'laoseis', 'pieejamība'],
  not: ['ei ole', 'nav', 'nėra'],
  future: ['tulossa', 'peagi', 'drīzumā', 'netrukus'],
  filler: ['tällä hetkellä', 'tuote', 'hetkel'],
};
