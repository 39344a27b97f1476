import { describe, expect, test } from 'vitest';
import { expectLinear } from '../../../test/support/time/cost.ts';
import { checkFound, isNotFoundTitle } from './not-found-page.ts';
import { unexpectedPage } from './unexpected-page.ts';

const sentences = [
  'Page not found',
  'Sorry, this page does not exist',
  'Error 404: Page Not Found',
  'Page introuvable',
  'Cette page n’existe plus',
  'Seite nicht gefunden',
  'Die Seite wurde leider nicht gefunden',
  'Página no encontrada',
  'No se ha encontrado la página',
  'Pagina non trovata',
  'Questa pagina non esiste più',
  'Página não encontrada',
  'Pagina niet gevonden',
  'Deze pagina bestaat niet meer',
  'Nie znaleziono strony',
  'Strona nie istnieje',
  'Страница не найдена',
  'ページが見つかりません',
  'お探しの商品は存在しません',
  'Halaman tidak ditemukan',
  'Sidan hittades inte',
  'Siden blev ikke fundet',
];

describe('isNotFoundTitle()', () => {
  test.each(sentences)('accepts %j, also beside the name of a shop', (sentence) => {
    for (const title of [sentence, `${sentence} | Shop`, `Shop - ${sentence}`, `${sentence}!`]) {
      expect(isNotFoundTitle(title)).toBe(true);
    }
    expect(unexpectedPage(`<h1>${sentence}</h1><p>Try a search.`, 'a product').code).toBe(
      'page_not_found',
    );
  });

  test.each([
    'T-shirt "Error 404: costume not found"',
    'Print: Page not found in this book',
    'Porsche 404',
    '404',
    'The page turner',
    'Lost & not found: a novel',
    'Die Seite der Dinge',
  ])('is false for the product %j', (title) => expect(isNotFoundTitle(title)).toBe(false));
});

describe('checkFound()', () => {
  test.each([
    '<title>Page non trouv&eacute;e | Boutique</title>',
    '<title>Boutique</title><h1 class="a"> Page <b>introuvable</b> </h1>',
  ])('throws for %s', (html) => {
    expect(() => checkFound(html)).toThrow(expect.objectContaining({ code: 'page_not_found' }));
  });

  test('ignores other parts of a page', () => {
    expect(() => checkFound('<title>Mug</title><h1>Mug</h1><p>Page not found</p>')).not.toThrow();
  });

  test('takes linear time', () => {
    for (const part of ['<h1>', '<title', '<h1 a="', '</h1', 'the that ', 'page you ']) {
      const html = `<title>${part.repeat(50_000)}`;
      expectLinear(() => checkFound(html), [html]);
    }
  });
});
