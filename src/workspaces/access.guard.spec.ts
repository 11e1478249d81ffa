import type { ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { Access } from '../common/access.js';
import { AccessGuard } from './access.guard.js';

/** Handlers of routes and relay events, named after their rule. */
class Handlers {
  undeclared(): void {}

  @Access('public')
  open(): void {}

  @Access('member')
  members(): void {}

  @Access('client')
  clients(): void {}
}

describe('the access guard', () => {
  const nothing = {} as never;
  const guard = new AccessGuard(nothing, new Reflector(), nothing, nothing, nothing);
  const letsPass = (kind: 'http' | 'ws', handler: keyof Handlers): Promise<boolean> =>
    guard.canActivate({
      getType: () => kind,
      getHandler: (): unknown => Reflect.get(Handlers.prototype, handler),
      getClass: () => Handlers,
    } as unknown as ExecutionContext);

  it.each(['undeclared', 'clients'] as const)('refuses everybody a route that is %s', async (handler) => {
    await expect(letsPass('http', handler)).rejects.toMatchObject({ code: 'FORBIDDEN' });
  });

  it('allows clients only the events that are declared for them', async () => {
    expect(await letsPass('ws', 'clients')).toBe(true);
    for (const handler of ['undeclared', 'open', 'members'] as const)
      expect(await letsPass('ws', handler)).toBe(false);
  });
});
