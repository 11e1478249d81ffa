import type { ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { Access } from '../common/access.js';
import { ClientEventGuard } from './client-event.guard.js';

/** Handlers of events, named after their rule. */
class Handlers {
  undeclared(): void {}

  @Access('public')
  open(): void {}

  @Access('member')
  members(): void {}

  @Access('client')
  clients(): void {}
}

describe('the guard of relay events', () => {
  const guard = new ClientEventGuard(new Reflector());
  const letsPass = (handler: keyof Handlers): boolean =>
    guard.canActivate({
      getHandler: (): unknown => Reflect.get(Handlers.prototype, handler),
      getClass: () => Handlers,
    } as unknown as ExecutionContext);

  it('allows clients only the events that are declared for them', () => {
    expect(letsPass('clients')).toBe(true);
    for (const handler of ['undeclared', 'open', 'members'] as const) expect(letsPass(handler)).toBe(false);
  });
});
