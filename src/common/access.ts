import { applyDecorators, createParamDecorator, type ExecutionContext, SetMetadata } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';
import type { Role, User } from '@patchbay/protocol';
import type { FastifyRequest } from 'fastify';

/**
 * Who may use a route or relay event: `public` anyone; `user` a valid token; `member` and `owner` that role in the
 * workspace of the path (`:workspaceId`); `client` a socket with an accepted handshake. Without a rule everyone is
 * refused.
 */
export type AccessRule = 'public' | 'user' | 'member' | 'owner' | 'client';

export const ACCESS_RULE = 'patchbay:access';
/** The extension that carries an operation's rule in docs/openapi.json. */
export const ACCESS_EXTENSION = 'x-access';

/** Declares who may use a handler, or all handlers of a class. */
export const Access = (rule: AccessRule): MethodDecorator & ClassDecorator =>
  applyDecorators(SetMetadata(ACCESS_RULE, rule), ApiExtension(ACCESS_EXTENSION, rule));

export const ENDS_ACCESS = 'patchbay:ends-access';

/** The handler may end its caller's own access; the response is sent all the same. */
export const EndsAccess = (): MethodDecorator => SetMetadata(ENDS_ACCESS, true);

/** What the access check attaches to a request with a token. */
export interface AccessContext {
  user?: User;
  /** The login of the user's access token. */
  loginId?: string;
  /** The answer requires the same access at the time when it is sent. */
  isForAnswer?: boolean;
  /** Lowercase. */
  workspaceId?: string;
  /** The role that the user must have, at the start of the request and when the response is sent. */
  needs?: Role;
}

export type AccessedRequest = FastifyRequest & { access?: AccessContext };

/** The user whose token the request carries; for routes above `public`. */
export const CurrentUser = createParamDecorator((_: unknown, context: ExecutionContext): User => {
  return required(context, 'user');
});

/** The workspace of the path, a validated UUID; for routes of `member` and `owner`. */
export const WorkspaceId = createParamDecorator((_: unknown, context: ExecutionContext): string => {
  return required(context, 'workspaceId');
});

function required<K extends keyof AccessContext>(
  context: ExecutionContext,
  key: K,
): NonNullable<AccessContext[K]> {
  const value = context.switchToHttp().getRequest<AccessedRequest>().access?.[key];
  if (value === undefined)
    throw new Error(`${context.getHandler().name} asks for ${key}, but its @Access rule gives none`);
  return value;
}
