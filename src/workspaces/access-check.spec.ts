import type { AccessedRequest } from '../common/access.js';
import { AccessCheck } from './access-check.js';

describe('the access check', () => {
  const nothing = {} as never;
  const check = new AccessCheck(nothing, nothing, nothing, nothing);

  it.each([undefined, 'client'] as const)('refuses everybody a route with the rule %s', async (rule) => {
    const admitted = check.admit({} as AccessedRequest, rule);
    await expect(admitted).rejects.toMatchObject({ code: 'FORBIDDEN' });
  });
});
