// A mongod, as far as one has to be that the tests start for themselves: it listens where it is told, says that it is a replica
// set of one, and ends on a shutdown. With FAKE_MONGOD=broken it is one that does not run on this machine.
import { createServer } from 'node:net';
import process from 'node:process';
import { mongo } from 'mongoose';

const { BSON } = mongo;
const option = (name) => process.argv[process.argv.indexOf(name) + 1];

if (process.env.FAKE_MONGOD === 'broken') {
  console.error('mongod: error while loading shared libraries: libcrypto.so.1.1');
  process.exit(127);
}
if (process.argv.includes('--version')) {
  console.log('db version v9.9.9');
  process.exit();
}

const port = Number(option('--port'));
const me = `127.0.0.1:${port}`;
const setName = option('--replSet');
const [OP_REPLY, OP_QUERY, OP_MSG] = [1, 2004, 2013];

function answerTo(command) {
  if (command.shutdown) process.exit();
  return {
    ...{
      ok: 1,
      version: '9.9.9',
      setName,
      hosts: [me],
      me,
      primary: me,
      isWritablePrimary: true,
      ismaster: true,
    },
    ...{ maxBsonObjectSize: 16_777_216, maxMessageSizeBytes: 48_000_000, maxWriteBatchSize: 100_000 },
    ...{ minWireVersion: 0, maxWireVersion: 27 },
  };
}

/** The message that answers this one: its header, then what stands between that and the document, then the document. */
function reply(message) {
  const isQuery = message.readInt32LE(12) === OP_QUERY;
  const at = isQuery ? message.indexOf(0, 20) + 9 : 21;
  const document = BSON.serialize(
    answerTo(BSON.deserialize(message.subarray(at, at + message.readInt32LE(at)))),
  );
  const between = Buffer.alloc(isQuery ? 20 : 5);
  if (isQuery) between.writeInt32LE(1, 16);
  const header = Buffer.alloc(16);
  header.writeInt32LE(16 + between.length + document.length, 0);
  header.writeInt32LE(message.readInt32LE(4), 8);
  header.writeInt32LE(isQuery ? OP_REPLY : OP_MSG, 12);
  return Buffer.concat([header, between, document]);
}

createServer((socket) => {
  let read = Buffer.alloc(0);
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    read = Buffer.concat([read, chunk]);
    while (read.length >= 4 && read.length >= read.readInt32LE(0)) {
      const length = read.readInt32LE(0);
      socket.write(reply(read.subarray(0, length)));
      read = read.subarray(length);
    }
  });
}).listen(port, '127.0.0.1', () => {
  console.log('waiting for connections');
  console.log('transition to primary complete; database writes are now permitted');
});
