/**
 * The nonce that the page's content security policy lets style elements in by. The gateway writes it
 * into the page; '' where Vite serves it.
 */
export const styleNonce = document.querySelector<HTMLMetaElement>('meta[name=style-nonce]')?.content ?? '';

// What locks scrolling behind dialogs makes a style element of its own and looks for its nonce here.
(globalThis as { __webpack_nonce__?: string }).__webpack_nonce__ = styleNonce;
