import type { FastifyReply } from 'fastify';
import type { FileVersion } from '../storage/ports/files.store.js';
import { entityTag } from './entity-tags.js';

/** Sends the bytes of a version in a form that no browser renders as a page. */
export function asBytes(reply: FastifyReply, version: FileVersion, bytes: Buffer): Buffer {
  void tagged(reply, version)
    .header('Content-Type', 'application/octet-stream')
    .header('X-Content-Type-Options', 'nosniff')
    .header('Content-Security-Policy', 'sandbox');
  return bytes;
}

/** Sets the ETag; caches must revalidate before each use. */
export function tagged(reply: FastifyReply, version: FileVersion): FastifyReply {
  return reply.header('ETag', entityTag(version)).header('Cache-Control', 'private, no-cache');
}
