import type { Type } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import { MetadataScanner, ModulesContainer, Reflector } from '@nestjs/core';
import { type NestFastifyApplication, RouteConfig } from '@nestjs/platform-fastify';
import { RAW_BODY } from './bodies/request-bodies.js';
import { ACCESS_RULE, type AccessRule, ENDS_ACCESS } from './common/access.js';
import type { DtoClass } from './common/request.decorators.js';
import { isRequestDto } from './common/request-parser.js';
import type { AnonymousBucket } from './limits/rate-limits.js';
import { RATE_BUCKET } from './limits/request-limits.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set for the routes of controllers. */
    rules?: RouteRules;
  }
}

/** What the handler of a route declares about its requests. */
export interface RouteRules {
  access: AccessRule | undefined;
  /** The answer is sent even if its caller has no access any more. */
  endsAccess: boolean;
  bucket: AnonymousBucket;
  hasRawBody: boolean;
  /** The schema of each input; null if it is passed on unchecked. */
  body: DtoClass | null;
  query: DtoClass | null;
}

/** The schema of an input that the handler does not declare: absent or empty. */
class NoInput {}

/** Gives each route of a controller its rules, before Nest registers it. */
export function declareRules(app: NestFastifyApplication): void {
  const scanner = new MetadataScanner();
  for (const { controllers } of app.get(ModulesContainer).values()) {
    for (const { metatype } of controllers.values()) {
      const prototype = metatype!.prototype as object;
      for (const name of scanner.getAllMethodNames(prototype)) {
        const method = Object.getOwnPropertyDescriptor(prototype, name);
        RouteConfig({ rules: rulesOf(metatype as Type, name) })(prototype, name, method!);
      }
    }
  }
}

export function rulesOf(controller: Type, name: string): RouteRules {
  const reflector = new Reflector();
  const handler = Reflect.get(controller.prototype as object, name) as () => void;
  return {
    access: reflector.getAllAndOverride<AccessRule | undefined>(ACCESS_RULE, [handler, controller]),
    endsAccess: reflector.get<boolean | undefined>(ENDS_ACCESS, handler) ?? false,
    bucket: reflector.get<AnonymousBucket | undefined>(RATE_BUCKET, handler) ?? 'anonymous',
    hasRawBody: reflector.get<boolean | undefined>(RAW_BODY, handler) ?? false,
    body: inputOf(controller, name, RouteParamtypes.BODY),
    query: inputOf(controller, name, RouteParamtypes.QUERY),
  };
}

/** Nest keeps a handler's parameters under keys such as `3:0`: the kind, and the position. */
function inputOf(controller: Type, name: string, kind: RouteParamtypes): DtoClass | null {
  const parameters = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, name) ?? {}) as object;
  const [declared] = Object.keys(parameters).filter((key) => key.startsWith(`${kind}:`));
  if (declared === undefined) return NoInput;
  const types = Reflect.getMetadata('design:paramtypes', controller.prototype as object, name) as unknown[];
  const type = types[Number(declared.split(':')[1])];
  return isRequestDto(type) ? type : null;
}
