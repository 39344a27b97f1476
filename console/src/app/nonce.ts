/**
 * Nonce that the content security policy requires on style elements. The gateway writes it into the
 * page; it is '' when Vite serves the page.
 */
export const styleNonce =
  document.querySelector<HTMLMetaElement>('meta[name=style-nonce]')?.content ?? '';

// The scroll lock of dialogs creates a style element and reads its nonce from this global.
(globalThis as { __webpack_nonce__?: string }).__webpack_nonce__ = styleNonce;
