// The floor: POST /<n> → emitWithAck to the n-th socket → 200. What any relay of this kind costs before it does anything.
import process from 'node:process';
import { serve, sockets } from './bare-server.mjs';

process.once('message', () => serve((n, call) => sockets[n].emitWithAck('tool:call', call)));
