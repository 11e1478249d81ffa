import { Config } from '../../src/config/config.js';
import { apiDocument } from '../../src/ops/api-docs.js';
import { FakeClient } from '../support/fake-client.js';
import { suiteFixture } from '../support/fixtures.js';
import { createCall, RelayFixture } from '../support/relay-fixture.js';
import { waitFor } from '../support/wait-for.js';

describe('a server below a base path', () => {
  const fixture = suiteFixture(() => RelayFixture.start({ basePath: '/patchbay', host: '127.0.0.1' }));
  let origin: string;
  beforeAll(async () => {
    ({ origin } = new URL(fixture.server.url));
  });

  it('serves the API and the relay there [REQ-30]', async () => {
    expect(fixture.server.url).toBe(`${origin}/patchbay`);
    const client = await fixture.client();
    await fixture.post([createCall('c1')], { turnId: 't1' });
    await waitFor(() => client.calls.length === 1, 'the call');
    expect(await client.report(client.calls[0]!)).toEqual({ ok: true });
    expect((await fixture.get('t1')).body.result.kind).toBe('final');
  });

  it('has its health there', async () => {
    for (const path of ['/health/live', '/health/ready'])
      expect((await fixture.server.get(path)).status).toBe(200);
  });

  it('answers nothing beside it, and says where its routes are [REQ-30]', async () => {
    for (const path of [
      '/health/live',
      '/api/v1/workspaces',
      '/patchbayx/health/live',
      '/',
      '/%70atchbay/health/live',
    ]) {
      const answer = await fetch(`${origin}${path}`);
      expect([answer.status, await answer.json()]).toEqual([
        404,
        { error: "This server's routes are below /patchbay (PATCHBAY_BASE_PATH)", code: 'NOT_FOUND' },
      ]);
      expect(answer.headers.get('x-request-id')).not.toBeNull();
    }
    const { token } = fixture.user;
    const beside = { url: origin, token, workspaceId: fixture.workspaceId };
    await expect(FakeClient.connect(beside)).rejects.toThrow();
  });

  it('has no route at the base path itself', async () => {
    for (const path of ['/patchbay', '/patchbay/', '/patchbay?a=b'])
      expect(await (await fetch(`${origin}${path}`)).json()).toEqual({
        error: 'No such route',
        code: 'NOT_FOUND',
      });
  });

  it('is the server that its document names', () => {
    expect(apiDocument(fixture.server.app.get(Config)).servers).toEqual([{ url: '/patchbay' }]);
  });
});
