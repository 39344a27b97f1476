import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Marked, type Tokens } from 'marked';
import { packageUrl } from '../../../base/package-folder.ts';

/** A page of the user documentation. */
export interface GuidePage {
  title: string;
  /** HTML of its content. */
  html: string;
  sections: GuideSection[];
}

/** A section of a page, as the search finds it. */
export interface GuideSection {
  title: string;
  /** Id of its heading. Empty for the whole page. */
  anchor: string;
  /** First words of the section. */
  text: string;
}

/** Page with the list of all pages. */
export const indexPage = 'README';

/** Names of the pages: those for users and operators, without the decision records. */
export const guidePages: ReadonlySet<string> = new Set(
  ['', 'kinds/'].flatMap((folder) =>
    readdirSync(packageUrl(`docs/${folder}`))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `${folder}${name.slice(0, -'.md'.length)}`),
  ),
);

/** Returns the Markdown of a page. */
export const readMarkdown = (name: string): string =>
  readFileSync(fileURLToPath(packageUrl(`docs/${name}.md`)), 'utf8');

/** Maximum characters of a section that the search shows. */
const maxText = 200;

/** Renders a page. Its links to other pages are below `root`, such as "/docs/guide". */
export function renderPage(name: string, root: string, markdown = readMarkdown(name)): GuidePage {
  const anchors = new Map<string, number>();
  const sections: GuideSection[] = [];
  const marked = new Marked({
    walkTokens(token) {
      if (token.type === 'heading') {
        const { depth, text } = token as Tokens.Heading;
        const title = text.replace(/[`*]|\[([^\]]*)\]\([^)]*\)/g, '$1');
        const anchor = depth === 1 ? '' : anchorOf(title, anchors);
        sections.push({ title, anchor, text: '' });
      } else if (token.type === 'paragraph') {
        const section = sections.at(-1);
        if (section?.text === '') section.text = (token as Tokens.Paragraph).text.slice(0, maxText);
      }
    },
  });
  const tokens = marked.lexer(markdown);
  marked.walkTokens(tokens, marked.defaults.walkTokens!);
  const headings = sections.values();
  marked.use({
    renderer: {
      heading({ depth, tokens: content }) {
        const anchor = headings.next().value?.anchor ?? '';
        const id = anchor === '' ? '' : ` id="${anchor}"`;
        const text = this.parser.parseInline(content);
        return `<h${depth}${id}>${text}</h${depth}>\n`;
      },
      link({ href, tokens: content }) {
        const text = this.parser.parseInline(content);
        const address = placeLink(name, href, root);
        if (address === null) return text;
        return `<a href="${escapeHtml(address)}">${text}</a>`;
      },
      image({ href, text }) {
        const address = `${root}/${resolveLink(name, href)}`;
        return `<img src="${escapeHtml(address)}" alt="${escapeHtml(text)}">`;
      },
    },
  });
  return { title: sections[0]?.title ?? name, html: marked.parser(tokens), sections };
}

/** Returns the id of a heading as GitHub makes it, so that links work in both places. */
function anchorOf(title: string, anchors: Map<string, number>): string {
  const anchor = title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
  const earlier = anchors.get(anchor) ?? 0;
  anchors.set(anchor, earlier + 1);
  return earlier === 0 ? anchor : `${anchor}-${earlier}`;
}

/** Returns the address of a link, or null for a file of the checkout that is no page. */
function placeLink(page: string, href: string, root: string): string | null {
  if (/^(?:https?:|#)/.test(href)) return href;
  const [path = '', anchor] = resolveLink(page, href).split('#');
  const name = path.replace(/\.md$/, '');
  if (!path.endsWith('.md') || !guidePages.has(name)) return null;
  const address = name === indexPage ? root : `${root}/${name}`;
  return anchor === undefined ? address : `${address}#${anchor}`;
}

const resolveLink = (page: string, href: string): string => posix.join(posix.dirname(page), href);

/** Escapes text for HTML. */
export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
