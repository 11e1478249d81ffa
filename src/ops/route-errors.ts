import { type ErrorCode, ERRORS } from '@patchbay/protocol';
import type { AccessRule } from '../common/access.js';

/** What is known of a route before it is asked. */
export interface RouteFacts {
  /** Method and path, such as `GET /api/v1/workspaces/{workspaceId}`. */
  route: string;
  access: AccessRule;
  hasBody: boolean;
}

const WORKSPACE = '/api/v1/workspaces/{workspaceId}';

/** Errors that a route has beside those which follow from what it takes. */
const MORE: { [route: string]: readonly ErrorCode[] } = {
  'POST /api/v1/auth/register': ['FORBIDDEN', 'CONFLICT'],
  'POST /api/v1/auth/login': ['INVALID_TOKEN'],
  'POST /api/v1/auth/refresh': ['INVALID_TOKEN'],
  'POST /api/v1/workspaces': ['CONFLICT'],
  [`POST ${WORKSPACE}/members`]: ['NOT_FOUND', 'CONFLICT'],
  [`PUT ${WORKSPACE}/members/{userId}`]: ['CONFLICT'],
  [`DELETE ${WORKSPACE}/members/{userId}`]: ['CONFLICT'],
  [`PUT ${WORKSPACE}/roots/{docPath}`]: ['CONFLICT'],
  [`POST ${WORKSPACE}/tools`]: ['NOT_FOUND', 'CONFLICT', 'STALE'],
  [`GET ${WORKSPACE}/tools`]: ['NOT_FOUND'],
  [`POST ${WORKSPACE}/blobs/read`]: ['NOT_FOUND'],
  [`GET ${WORKSPACE}/contents/{path}`]: ['STALE'],
  [`PUT ${WORKSPACE}/contents/{path}`]: ['CONFLICT', 'STALE'],
  [`POST ${WORKSPACE}/files/{fileId}/restore`]: ['CONFLICT'],
  [`GET ${WORKSPACE}/patches/{batchId}/diff`]: ['CONFLICT'],
  [`POST ${WORKSPACE}/patches/{batchId}/revert`]: ['CONFLICT', 'STALE'],
  [`POST ${WORKSPACE}/sessions/{sessionId}/turns`]: ['CONFLICT'],
  [`POST ${WORKSPACE}/sessions/{sessionId}/turns/{turnId}/results`]: ['CONFLICT', 'LATE_RESULT'],
};

/** The codes that a route answers an error with, by HTTP status. */
export function errorsOf({ route, access, hasBody }: RouteFacts): Map<number, ErrorCode[]> {
  const isHealth = route.includes(' /health/');
  const namesSomething = route.replace('{workspaceId}', '').includes('{');
  const codes = new Set<ErrorCode>([
    'VALIDATION_ERROR',
    ...(access === 'public' ? [] : (['INVALID_TOKEN', 'FORBIDDEN'] as const)),
    ...(namesSomething ? (['NOT_FOUND'] as const) : []),
    // Headers and the URL have a bound as bodies have one.
    'TOO_LARGE',
    ...(hasBody ? (['UNSUPPORTED_MEDIA_TYPE'] as const) : []),
    ...(MORE[route] ?? []),
    ...(isHealth ? [] : (['RATE_LIMITED', 'UNAVAILABLE'] as const)),
    'INTERNAL_ERROR',
  ]);
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of Object.keys(ERRORS) as ErrorCode[]) {
    if (!codes.has(code)) continue;
    const { status } = ERRORS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return byStatus;
}
