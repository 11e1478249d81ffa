import { applyDecorators, Injectable, SetMetadata } from '@nestjs/common';
import { ApiBody, ApiConsumes } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { AccessedRequest } from '../common/access.js';
import { BodyReader, unsupported } from './body-reader.js';
import { holdBody } from './held-bodies.js';
import { StalledBody } from './read-body.js';
import type { Reception } from './receiving.js';

export const RAW_BODY = 'patchbay:raw-body';

/** The route takes bytes of any content type; `@Body()` is a Buffer of at most the size of one file. */
export const RawBody = (): MethodDecorator =>
  applyDecorators(
    SetMetadata(RAW_BODY, true),
    ApiConsumes('application/octet-stream'),
    ApiBody({ schema: { type: 'string' } }),
  );

/** Reads bodies after the access check, so that an unauthenticated body is never held in memory. */
@Injectable()
export class RequestBodies {
  constructor(private readonly reader: BodyReader) {}

  /** Reads the body into `request.body`. Its bytes count until `releaseBody` is called. */
  async receive(request: AccessedRequest, reply: FastifyReply, isRaw: boolean): Promise<void> {
    if (request.method === 'GET' || request.method === 'HEAD') return;
    const reception = this.reader.open(request);
    holdBody(reply.raw, () => {
      request.body = undefined;
      reception.release();
    });
    try {
      request.body = await this.read(request, isRaw, reception);
    } catch (error) {
      if (error instanceof StalledBody) void reply.header('Connection', 'close');
      throw error;
    }
  }

  private read(request: AccessedRequest, isRaw: boolean, reception: Reception): unknown {
    const { headers } = request;
    const encoding = headers['content-encoding'];
    if (encoding !== undefined && encoding !== 'identity')
      throw unsupported('Compressed bodies are not supported');
    const declared = headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
    if (!declared) return isRaw ? Buffer.alloc(0) : undefined;
    return isRaw ? this.reader.raw(request, reception) : this.reader.json(request, reception);
  }
}
