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

/** The route takes bytes of any content type; `@Body()` is then a Buffer of at most one file's size. */
export const RawBody = (): MethodDecorator =>
  applyDecorators(
    SetMetadata(RAW_BODY, true),
    ApiConsumes('application/octet-stream'),
    ApiBody({ schema: { type: 'string' } }),
  );

/** Reads bodies once the guards have let the request pass, so that a stranger's is never held in memory. */
@Injectable()
export class RequestBodies {
  constructor(
    private readonly reader: BodyReader,
    private readonly reflector: Reflector,
  ) {}

  /**
   * Puts the body of a request into `request.body`, where pipes and handlers find it. Gives what lets go of it, to be called
   * once the request is handled: until then what was read counts.
   */
  async take(context: ExecutionContext): Promise<() => void> {
    const http = context.switchToHttp();
    const request = http.getRequest<AccessedRequest>();
    if (request.method === 'GET' || request.method === 'HEAD') return nothing;
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

function nothing(): void {}
