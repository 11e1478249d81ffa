import type { ExecutionContext } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import type { AccessedRequest } from '../access.js';
import { parseRequest } from '../request-parser.js';

/** The schema of an input that the route does not declare: absent or empty. */
class NoInput {}

/** The declared inputs of handlers never change. */
const declaredByHandler = new WeakMap<object, ReadonlySet<RouteParamtypes>>();

/** Refuses a query without a `@Query()` parameter, and body properties without a `@Body()`. */
export function refuseUndeclared(context: ExecutionContext): void {
  const { query, body } = context.switchToHttp().getRequest<AccessedRequest>();
  const declared = declaredByHandler.get(context.getHandler()) ?? declaredInputs(context);
  declaredByHandler.set(context.getHandler(), declared);
  if (!declared.has(RouteParamtypes.QUERY)) parseRequest(NoInput, query);
  if (!declared.has(RouteParamtypes.BODY)) parseRequest(NoInput, body);
}

/**
 * The inputs that the handler has parameters for. Nest keeps them under keys such as `3:0`, and custom decorators
 * under a random word, which may start with a digit too.
 */
function declaredInputs(context: ExecutionContext): ReadonlySet<RouteParamtypes> {
  const parameters = Reflect.getMetadata(
    ROUTE_ARGS_METADATA,
    context.getClass(),
    context.getHandler().name,
  ) as object | undefined;
  const parts = Object.keys(parameters ?? {}).map((key) => key.split(':', 1)[0]!);
  return new Set(parts.map((part): RouteParamtypes => Number(part)));
}
