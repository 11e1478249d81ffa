import {
  applyDecorators,
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  SetMetadata,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ApiBody, ApiConsumes } from '@nestjs/swagger';
import type { Observable } from 'rxjs';
import { Config } from '../../config/config.js';
import type { AccessedRequest } from '../access.js';
import { DomainError } from '../domain-error.js';
import { parseJson, readBody } from './read-body.js';

const RAW_BODY = 'patchbay:raw-body';
/** Whoever shows no token gets no more of our memory than it takes to register or log in. */
const ANONYMOUS_BODY_BYTES = 64 * 1024;

/** The route takes bytes of any content type; `@Body()` is then a Buffer of at most one file's size. */
export const RawBody = (): MethodDecorator =>
  applyDecorators(
    SetMetadata(RAW_BODY, true),
    ApiConsumes('application/octet-stream'),
    ApiBody({ schema: { type: 'string' } }),
  );

/**
 * Reads the body once the guards have let the request pass, so that a stranger's is never held in memory.
 * Pipes and handlers, which come after interceptors, find it in `request.body`.
 */
@Injectable()
export class BodyInterceptor implements NestInterceptor {
  constructor(
    private readonly config: Config,
    private readonly reflector: Reflector,
  ) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    if (context.getType() === 'http') {
      const request = context.switchToHttp().getRequest<AccessedRequest>();
      if (request.method !== 'GET' && request.method !== 'HEAD') {
        const raw = this.reflector.get<boolean | undefined>(RAW_BODY, context.getHandler()) ?? false;
        request.body = await this.read(request, raw);
      }
    }
    return next.handle();
  }

  private async read(request: AccessedRequest, raw: boolean): Promise<unknown> {
    const { headers } = request;
    const encoding = headers['content-encoding'];
    if (encoding !== undefined && encoding !== 'identity')
      throw unsupported('Compressed bodies are not supported');
    const declared = headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
    if (!declared) return raw ? Buffer.alloc(0) : undefined;
    if (raw) return readBody(request.raw, this.config.maxFileBytes);
    const json = isJson(request.contentType);
    const { maxBodyBytes } = this.config;
    const limit = request.access?.user ? maxBodyBytes : Math.min(maxBodyBytes, ANONYMOUS_BODY_BYTES);
    const bytes = await readBody(request.raw, limit);
    if (!json && bytes.length > 0) throw unsupported('The body must be application/json in UTF-8');
    return parseJson(bytes);
  }
}

/** JSON is UTF-8; the parameter that says so is allowed, another charset is not. */
function isJson(contentType: string | undefined): boolean {
  const [type = '', ...parameters] = (contentType ?? '')
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  return (
    type === 'application/json' &&
    parameters.every(
      (parameter) => !parameter.startsWith('charset=') || /^charset="?utf-?8"?$/.test(parameter),
    )
  );
}

function unsupported(message: string): DomainError {
  return new DomainError('UNSUPPORTED_MEDIA_TYPE', message);
}
