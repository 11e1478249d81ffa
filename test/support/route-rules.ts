import type { INestApplicationContext } from '@nestjs/common';
import { METHOD_METADATA } from '@nestjs/common/constants.js';
import { DiscoveryService, MetadataScanner, ModulesContainer, Reflector } from '@nestjs/core';
import { ACCESS_RULE, type AccessRule } from '../../src/common/access.js';

/** What `@SubscribeMessage` leaves on a handler; named here so that an app without a gateway needs no websockets. */
const MESSAGE_METADATA = 'websockets:message_mapping';

export interface Handler {
  /** `Controller.method`. */
  name: string;
  kind: 'route' | 'event';
  rule: AccessRule | undefined;
}

/** Every route and relay event of the app, with the access rule that it, or else its class, declares. */
export function handlersOf(app: INestApplicationContext): Handler[] {
  const discovery = new DiscoveryService(app.get(ModulesContainer));
  const scanner = new MetadataScanner();
  const reflector = new Reflector();
  const classes = [...discovery.getControllers(), ...discovery.getProviders()].flatMap(({ metatype }) =>
    typeof metatype === 'function' && metatype.prototype ? [metatype] : [],
  );
  return [...new Set(classes)].flatMap((type) => {
    const prototype = type.prototype as Record<string, unknown>;
    return scanner.getAllMethodNames(prototype).flatMap((method): Handler[] => {
      const handler = prototype[method];
      if (typeof handler !== 'function') return [];
      const kind = kindOf(handler);
      const rule = reflector.getAllAndOverride<AccessRule | undefined>(ACCESS_RULE, [handler, type]);
      return kind ? [{ name: `${type.name}.${method}`, kind, rule }] : [];
    });
  });
}

function kindOf(handler: object): Handler['kind'] | null {
  if (Reflect.hasMetadata(METHOD_METADATA, handler)) return 'route';
  return Reflect.hasMetadata(MESSAGE_METADATA, handler) ? 'event' : null;
}
