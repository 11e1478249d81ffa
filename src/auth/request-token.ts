import { parseCookie } from 'cookie';
import type { IncomingHttpHeaders } from 'node:http';

export interface RequestToken {
  token: string;
  source: 'header' | 'cookie';
}

/**
 * The token of a request: `Authorization: Bearer …`, else the cookie `access_token`, else none. An invalid Bearer token
 * does not fall back to the cookie; another scheme does.
 */
export function tokenOf(headers: IncomingHttpHeaders): RequestToken | null {
  const bearer = /^bearer(?:\s+(.*))?$/i.exec(headers.authorization?.trim() ?? '');
  if (bearer) return { token: bearer[1] ?? '', source: 'header' };
  const cookie = headers.cookie === undefined ? undefined : parseCookie(headers.cookie).access_token;
  return cookie === undefined ? null : { token: cookie, source: 'cookie' };
}

/** Whether a page of another site sent the request: its Origin is neither the server's own nor allowed. */
export function isForeignOrigin(headers: IncomingHttpHeaders, allowed: readonly string[]): boolean {
  const { origin, host } = headers;
  if (origin === undefined || allowed.includes(origin)) return false;
  return !URL.canParse(origin) || new URL(origin).host !== host;
}
