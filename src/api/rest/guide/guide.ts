import { readFile } from 'node:fs/promises';
import type { Exchange } from '../../../../gateway/request-context.ts';
import {
  createPublicContent,
  keepContent,
  type PublicContent,
  sendPublicContent,
} from '../../../../gateway/response/public-content.ts';
import { packageUrl } from '../../../base/package-folder.ts';
import { Fault } from '../../../contract/fault.ts';
import { markCurrent, withAbsoluteLinks } from '../docs-header.ts';
import { escapeHtml, guidePages, indexPage, readMarkdown, renderPage } from './pages.ts';

/** Name of the search index, beside the pages. */
const searchName = 'search.json';

const pictureTypes: Readonly<Record<string, string>> = { png: 'image/png', svg: 'image/svg+xml' };

/** Options of createGuide(). */
export interface GuideOptions {
  /** Path of the public address. */
  basePath(): string;
  /** Returns the page of the API reference, whose head, header, and styles the guide has. */
  readReference(): Promise<string>;
  headers: Record<string, string>;
}

/** Serves a page, a picture, or the search index by its name; '' for the list of pages. */
type Guide = (exchange: Exchange, name: string) => Promise<void>;

/**
 * Creates the handler of the user documentation at `/docs/guide`: its pages, their pictures, and an
 * index of their sections for a search. Throws `not_found` for any other name, and without a build
 * of the console.
 */
export function createGuide({ basePath, readReference, headers }: GuideOptions): Guide {
  const contents = new Map<string, () => Promise<PublicContent>>();
  const build = async (name: string): Promise<PublicContent> => {
    const root = `${basePath()}/docs/guide`;
    if (name === searchName)
      return createPublicContent('application/json', JSON.stringify(searchIndex(root)));
    const picture = /^(?:console\/)?[\w-]+\.(png|svg)$/.exec(name)?.[1];
    if (picture !== undefined) {
      const bytes = await readFile(packageUrl(`docs/${name}`)).catch(() => null);
      if (bytes !== null) return createPublicContent(pictureTypes[picture]!, bytes);
    }
    if (!guidePages.has(name)) throw new Fault('not_found', 'The documentation has no such page');
    return createPublicContent(
      'text/html; charset=utf-8',
      placeInto(await readReference(), name, basePath()),
    );
  };
  return async (exchange, path) => {
    const name = path === '' ? indexPage : path;
    const read = contents.get(name) ?? keepContent(basePath, () => build(name));
    const content = await read();
    contents.set(name, read);
    await sendPublicContent(exchange, content, headers);
  };
}

/** Returns the sections of all pages, with their addresses. */
function searchIndex(root: string): { title: string; page: string; path: string; text: string }[] {
  return [...guidePages].flatMap((name) => {
    const { title: page, sections } = renderPage(name, root);
    const address = name === indexPage ? root : `${root}/${name}`;
    return sections.map(({ title, anchor, text }) => ({
      title,
      page,
      path: anchor === '' ? address : `${address}#${anchor}`,
      text,
    }));
  });
}

/** Sections of the index that are for developers of the service, and all after them. */
const developerHeading = '\n## Change the code';

/** Returns the links of each section of the index for users, without their descriptions. */
function menuOf(root: string): string {
  const [contents = ''] = readMarkdown(indexPage).split(developerHeading);
  return renderPage(indexPage, root, contents)
    .html.replace(/<h1>.*<\/h1>/, '')
    .replace(/ id="[^"]*"/g, '')
    .replace(
      /<li>(.*)<\/li>/g,
      (_, entry: string) => `<li>${entry.match(/<a .*?<\/a>/g)?.join('') ?? ''}</li>`,
    );
}

/**
 * Replaces the menu and the content of the API reference, which has scripts, by a page's own.
 * The content comes first: on a phone, the menu follows it.
 */
function placeInto(reference: string, name: string, basePath: string): string {
  const root = `${basePath}/docs/guide`;
  const { title, html } = renderPage(name, root);
  const page = markCurrent(withAbsoluteLinks(reference, basePath), root);
  return page
    .replace(/<script[\s\S]*?<\/script>\s*|<link rel="modulepreload"[^>]*>\s*/g, '')
    .replace(/<title>.*<\/title>/, () => `<title>${escapeHtml(title)} · Gleaner</title>`)
    .replace(/<meta name="description"[^>]*>\s*/, '')
    .replace(/<nav aria-label="Calls">[\s\S]*?<\/nav>/, '')
    .replace(
      /<main[\s\S]*<\/main>/,
      () => `<main id="docs">${html}</main><nav aria-label="Pages">${menuOf(root)}</nav>`,
    );
}
