// POST → an invocation of Restate, which makes an awakeable and sends the call to the client; its result resolves the
// awakeable → 200. Restate's journal keeps the arguments, that the call was sent, and the result.
import { Agent, request } from 'node:http';
import { createServer } from 'node:http2';
import process from 'node:process';
import { createEndpointHandler, service } from '@restatedev/restate-sdk';
import { serve, sockets } from '../relay/bare-server.mjs';

const [ingress, admin] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, maxSockets: 1024, noDelay: true });

/** @returns {Promise<string>} The body of the answer. */
function post(url, value) {
  const body = JSON.stringify(value);
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', agent, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk) => (text += chunk));
      response.on('end', () => {
        if (response.statusCode < 300) resolve(text);
        else reject(new Error(`${url}: ${response.statusCode} ${text}`));
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Sends the call to the client, whose result resolves the awakeable. */
function send(id, { n, call }) {
  sockets[n].emit('tool:call', call, (result) => {
    post(`${ingress}/restate/awakeables/${id}/resolve`, result).catch(console.error);
  });
}

const calls = service({
  name: 'calls',
  handlers: {
    relay: async (context, input) => {
      const { id, promise } = context.awakeable();
      await context.run('send', () => send(id, input));
      return promise;
    },
  },
});

process.once('message', () => {
  const endpoint = createServer(createEndpointHandler({ services: [calls] }));
  endpoint.listen(0, '127.0.0.1', async () => {
    try {
      await post(`${admin}/deployments`, { uri: `http://127.0.0.1:${endpoint.address().port}` });
      serve(async (n, call) => JSON.parse(await post(`${ingress}/calls/relay`, { n, call })));
    } catch (error) {
      process.send({ error: error.stack });
    }
  });
});
