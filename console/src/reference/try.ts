// The interactive API reference at /docs/try: Scalar over the OpenAPI documents. Addresses are
// relative, so that the page works under every path form and behind a prefix.
import './try.css';

/** The renderer, which its script defines. */
interface Renderer {
  createApiReference(selector: string, options: object): void;
}

declare global {
  var Scalar: Renderer | undefined;
  var __zod_globalConfig: { jitless: boolean } | undefined;
}

/**
 * Languages that are not offered: the page shows curl, fetch, and requests, and the OpenAPI
 * document adds TypeScript.
 */
const hiddenTargets = [
  'c',
  'clojure',
  'csharp',
  'dart',
  'fsharp',
  'go',
  'http',
  'java',
  'kotlin',
  'node',
  'objc',
  'ocaml',
  'php',
  'powershell',
  'r',
  'ruby',
  'rust',
  'swift',
];

const options = {
  sources: [
    { title: 'Gleaner API', slug: 'api', url: '../openapi.json', default: true },
    { title: 'Operator API', slug: 'operator', url: '../openapi-operator.json' },
  ],
  authentication: { preferredSecurityScheme: 'bearer' },
  persistAuth: false,
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  hiddenClients: {
    ...Object.fromEntries(hiddenTargets.map((target) => [target, true])),
    shell: ['httpie', 'wget'],
    js: ['axios', 'jquery', 'ofetch', 'xhr'],
    python: ['aiohttp', 'httpx_async', 'httpx_sync', 'python3'],
  },
  // The other pages follow the system, too.
  forceDarkModeState: matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light',
  hideDarkModeToggle: true,
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  documentDownloadType: 'json',
  agent: { disabled: true },
  mcp: { disabled: true },
};

// Keeps the schema library of the renderer from compiling code, which the policy forbids.
globalThis.__zod_globalConfig = { jitless: true };

const script = document.createElement('script');
script.src = 'scalar.js';
script.addEventListener('load', () => globalThis.Scalar?.createApiReference('#docs', options));
document.head.append(script);
