/**
 * Time that the store keeps an expired session and a browser its cookie, in milliseconds, so that
 * the sign-in page can show why the session ended.
 */
export const expiredSessionMs = 24 * 60 * 60 * 1000;
