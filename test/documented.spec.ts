import { ANSWERS } from '../src/ops/answers.generated.js';
import { describeApi } from '../src/ops/api-docs.js';
import { expectDocumented } from './support/documented.js';
import { startTestServer } from './support/server.js';

describe('the documented API', () => {
  it('says of every route what it answers, and of none that there is not', async () => {
    const server = await startTestServer();
    const { paths } = describeApi(server.app);
    await server.close();
    const routes = Object.entries(paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(Object.keys(ANSWERS).sort()).toEqual(routes.sort());
  });

  describe('as every test holds the answers that it gets to it', () => {
    const url = 'http://localhost:1/api/v1/workspaces/w/blobs/missing';
    const answer = {
      ...{ method: 'POST', url, status: 200, contentType: 'application/json; charset=utf-8' },
      body: { missing: [] } as unknown,
    };

    it('takes what it says, and errors in their one form', () => {
      expectDocumented(answer);
      expectDocumented({ ...answer, status: 404, body: { error: 'Gone.', code: 'NOT_FOUND' } });
    });

    it.each([
      ['another status', { status: 201 }],
      ['another media type', { contentType: 'text/html' }],
      [
        'a body where there is none',
        { url: url.replace('/workspaces/w/blobs/missing', '/auth/logout'), status: 204 },
      ],
      ['a property more', { body: { missing: [], more: 1 } }],
      ['a property less', { body: {} }],
      ['another type', { body: { missing: [1] } }],
      ['an error of another form', { status: 400, body: { message: 'no' } }],
      ['a success of a route that it does not know', { url: `${url}/more` }],
    ])('refuses %s', (_, change) => {
      expect(() => expectDocumented({ ...answer, ...change })).toThrow('answered');
    });
  });
});
