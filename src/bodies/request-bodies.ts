import { applyDecorators, type ExecutionContext, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ApiBody, ApiConsumes } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { AccessedRequest } from '../common/access.js';
import { BodyReader, unsupported } from './body-reader.js';
import { holdBody } from './held-bodies.js';
import { StalledBody } from './read-body.js';
import type { Reception } from './receiving.js';

const RAW_BODY = 'patchbay:raw-body';

/** The route takes bytes of any content type; `@Body()` is a Buffer of at most the size of one file. */
export const RawBody = (): MethodDecorator =>
  applyDecorators(
    SetMetadata(RAW_BODY, true),
    ApiConsumes('application/octet-stream'),
    ApiBody({ schema: { type: 'string' } }),
  );

/** Reads bodies after the guards, so that an unauthenticated body is never held in memory. */
@Injectable()
export class RequestBodies {
  constructor(
    private readonly reader: BodyReader,
    private readonly reflector: Reflector,
  ) {}

  /**
   * Reads the body into `request.body` for pipes and handlers. Returns the function that releases its bytes, to be
   * called when the request is handled.
   */
  async receive(context: ExecutionContext): Promise<() => void> {
    const http = context.switchToHttp();
    const request = http.getRequest<AccessedRequest>();
    if (request.method === 'GET' || request.method === 'HEAD') return noop;
    const raw = this.reflector.get<boolean | undefined>(RAW_BODY, context.getHandler()) ?? false;
    const reception = this.reader.open(request);
    const release = (): void => {
      request.body = undefined;
      reception.release();
    };
    try {
      request.body = await this.read(request, raw, reception);
    } catch (error) {
      release();
      if (error instanceof StalledBody) void http.getResponse<FastifyReply>().header('Connection', 'close');
      throw error;
    }
    holdBody(http.getResponse<FastifyReply>().raw, release);
    return release;
  }

  private read(request: AccessedRequest, raw: boolean, reception: Reception): unknown {
    const { headers } = request;
    const encoding = headers['content-encoding'];
    if (encoding !== undefined && encoding !== 'identity')
      throw unsupported('Compressed bodies are not supported');
    const declared = headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
    if (!declared) return raw ? Buffer.alloc(0) : undefined;
    return raw ? this.reader.raw(request, reception) : this.reader.json(request, reception);
  }
}

function noop(): void {}
