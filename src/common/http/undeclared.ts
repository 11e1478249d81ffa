import type { ExecutionContext } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import type { AccessedRequest } from '../access.js';
import { parseRequest } from '../request-parser.js';

/** The request envelope of a route that declares none: absent or empty. */
class Nothing {}

/** What handlers declare never changes. */
const known = new WeakMap<object, ReadonlySet<RouteParamtypes>>();

/**
 * Holds a route to what it declares: without a `@Query()` it takes no query, without a `@Body()` no properties in a
 * body. What is declared, the pipe of request envelopes checks.
 */
export function refuseUndeclared(context: ExecutionContext): void {
  const { query, body } = context.switchToHttp().getRequest<AccessedRequest>();
  const declared = known.get(context.getHandler()) ?? declaredInputs(context);
  known.set(context.getHandler(), declared);
  if (!declared.has(RouteParamtypes.QUERY)) parseRequest(Nothing, query);
  if (!declared.has(RouteParamtypes.BODY)) parseRequest(Nothing, body);
}

/**
 * Which parts of a request the handler has parameters for. Nest keeps those under keys such as `3:0`, and what own
 * decorators give under a random word, which may begin with a digit too.
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
