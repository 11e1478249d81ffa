// Loaded into a process of client or server before its own code (`node --import`): stops it at the step that PAUSE_AT names
// (of several, with commas between them, at whichever comes), the first time, so that a test can kill it exactly there, or have it go on with SIGUSR2; and tells how often a file was
// put in its place.
// `before:<kind>`, `after:<kind>`: around the journal's write of such a line; `before:place`, `after:place`: around the
// link or rename of a file; `before:kept`, `after:kept`: around the link that gives the original of a patched file its
// second name, when all files of the batch are staged; `before:trail`, `after:trail`: around the insert of events into a trail on MongoDB. With
// PAUSE_EVERY it stops whoever comes to the step, not only the first.
import { Buffer } from 'node:buffer';
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import process from 'node:process';

const stops = (process.env.PAUSE_AT ?? '').split(',');
/** The steps of all stops, whether they are before or after. */
const steps = stops.map((stop) => stop.split(':')[1]).filter((step) => step !== undefined);

let hasPaused = false;

async function around(step, work) {
  if (stops.includes(`before:${step}`)) await pause();
  const done = await work();
  if (stops.includes(`after:${step}`)) await pause();
  return done;
}

function pause() {
  if (hasPaused && process.env.PAUSE_EVERY === undefined) return Promise.resolve();
  hasPaused = true;
  // Listens before it says so: a signal that nobody listens for ends the process.
  const toGoOn = new Promise((resolve) => process.once('SIGUSR2', resolve));
  process.stderr.write(`test: paused at ${process.env.PAUSE_AT}\n`);
  return toGoOn;
}

for (const name of ['link', 'rename']) {
  const original = fs[name];
  fs[name] = (from, to) => {
    if (!from.endsWith('.tmp')) return around(to.endsWith('.tmp') ? 'kept' : null, () => original(from, to));
    return around('place', async () => {
      await original(from, to);
      process.stderr.write('test: a file was put in its place\n');
    });
  };
}
syncBuiltinESMExports();

const handle = await fs.open(process.execPath);
const prototype = Object.getPrototypeOf(handle);
await handle.close();
const { write } = prototype;
prototype.write = function (bytes, ...rest) {
  const line = Buffer.isBuffer(bytes) ? steps.find((step) => bytes.includes(`{"kind":"${step}"`)) : null;
  return around(line, () => write.call(this, bytes, ...rest));
};

if (steps.includes('trail')) {
  const { mongo } = await import('mongoose');
  const { insertMany } = mongo.Collection.prototype;
  mongo.Collection.prototype.insertMany = function (...given) {
    const step = this.collectionName === 'audit_events' ? 'trail' : null;
    return around(step, () => insertMany.apply(this, given));
  };
}
