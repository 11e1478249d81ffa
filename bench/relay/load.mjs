// The load generator: keeps `concurrency` requests under way for some seconds, one after another over kept connections.
import { Agent, request } from 'node:http';
import process from 'node:process';
import { BODY } from './call.mjs';

const agent = new Agent({ keepAlive: true, maxSockets: 1024, noDelay: true });

/** @param {string} url @param {{ token: string | null, path: string }} user @returns {Promise<void>} */
function call(url, { token, path }) {
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(BODY),
      ...(token && { authorization: `Bearer ${token}` }),
    };
    const sent = request(new URL(path, url), { method: 'POST', agent, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk) => (text += chunk));
      response.on('end', () => {
        if (response.statusCode === 200 && text.includes('"status":"succeeded"')) resolve();
        else reject(new Error(`${response.statusCode}: ${text.slice(0, 500)}`));
      });
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(BODY);
  });
}

process.on('message', async ({ url, users, concurrency, seconds }) => {
  try {
    const times = [];
    const start = performance.now();
    const end = start + seconds * 1000;
    const lane = async (n) => {
      const user = users[n % users.length];
      for (let now = performance.now(); now < end;) {
        await call(url, user);
        const done = performance.now();
        times.push(done - now);
        now = done;
      }
    };
    await Promise.all(Array.from({ length: concurrency }, (_, n) => lane(n)));
    const took = (performance.now() - start) / 1000;
    times.sort((a, b) => a - b);
    const quantile = (share) => Number(times[Math.floor(times.length * share)].toFixed(2));
    process.send({ calls: times.length, rate: times.length / took, p50: quantile(0.5), p99: quantile(0.99) });
  } catch (error) {
    process.send({ error: error.stack });
  }
});
