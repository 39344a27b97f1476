import type { Vocabulary } from '../word-kinds.ts';

export const filipino: Vocabulary = {
  stock: [
    'may stock',
    'meron',
    'mayroon',
    'available na',
    'may stock pa',
    'available pa',
    'may available',
  ],
  gone: [
    'ubos na',
    'naubos na',
    'walang stock',
    'wala nang stock',
    'hindi available',
    'sold out na',
    'naubos',
    'ubos',
    'wala na',
  ],
  not: ['wala', 'walang', 'hindi', 'wala pang', 'hindi pa', 'wala nang'],
  future: ['malapit na', 'abisuhan ako', 'parating', 'babalik', 'darating', 'ipaalam sa akin'],
  left: ['na lang', 'natitira', 'nalang', 'na lang ang natitira'],
  only: ['lang', 'lamang'],
  filler: ['pa', 'ang', 'ng', 'ngayon'],
};
