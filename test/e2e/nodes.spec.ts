import { TestNodes } from '../support/nodes.js';
describe('two nodes', () => {
  it('start', async () => {
    const nodes = await TestNodes.open();
    const [a, b] = [await nodes.start('a'), await nodes.start('b')];
    const ada = await a.register();
    expect((await b.request('GET', '/workspaces', undefined, { authorization: `Bearer ${ada.token}` })).status).toBe(200);
    await nodes.close();
  });
});
