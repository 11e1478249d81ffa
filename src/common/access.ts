import { applyDecorators, createParamDecorator, type ExecutionContext, SetMetadata } from '@nestjs/common';
import { ApiExtension } from '@nestjs/swagger';
import type { Role, User } from '@patchbay/protocol';
import type { FastifyRequest } from 'fastify';

/**
 * Who may use a route or a relay event:
 * `public` anyone · `user` whoever holds a valid token · `member` and `owner` such a user in the workspace of the path
 * (`:workspaceId`) · `client` a socket whose handshake was accepted. What declares no rule is refused to everyone.
 */
export type AccessRule = 'public' | 'user' | 'member' | 'owner' | 'client';

export const ACCESS_RULE = 'patchbay:access';
/** How docs/openapi.json says the rule of an operation. */
export const ACCESS_EXTENSION = 'x-access';

/** Declares who may use a handler, or all handlers of a class. */
export const Access = (rule: AccessRule): MethodDecorator & ClassDecorator =>
  applyDecorators(SetMetadata(ACCESS_RULE, rule), ApiExtension(ACCESS_EXTENSION, rule));

export const ENDS_ACCESS = 'patchbay:ends-access';

/** Whoever uses the handler may have lost access by the time it is done, and is answered all the same. */
export const EndsAccess = (): MethodDecorator => SetMetadata(ENDS_ACCESS, true);

/** What the access guard leaves on a request for those behind it. */
export interface AccessContext {
  user?: User;
  /** Of the user's access token. */
  loginId?: string;
  /** Lowercase. */
  workspaceId?: string;
  /** What the user must be in the workspace, now and until the answer. */
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
