import type { FastifyReply } from 'fastify';
import type { FileVersion } from '../storage/ports/files.store.js';
import { entityTag } from './entity-tags.js';

/** Answers with the bytes of a version, in a form that no browser takes for a page of ours. */
export function asBytes(reply: FastifyReply, version: FileVersion, bytes: Buffer): Buffer {
  void tagged(reply, version)
    .header('Content-Type', 'application/octet-stream')
    .header('X-Content-Type-Options', 'nosniff')
    .header('Content-Security-Policy', 'sandbox');
  return bytes;
}

/** Says which version it is; whoever keeps it asks again before each use. */
export function tagged(reply: FastifyReply, version: FileVersion): FastifyReply {
  return reply.header('ETag', entityTag(version)).header('Cache-Control', 'private, no-cache');
}
