import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ACCESS_RULE, type AccessRule } from '../common/access.js';

/** Refuses events without `@Access('client')`. The socket itself was authenticated in its handshake. */
@Injectable()
export class ClientEventGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const declared = [context.getHandler(), context.getClass()];
    return this.reflector.getAllAndOverride<AccessRule | undefined>(ACCESS_RULE, declared) === 'client';
  }
}
