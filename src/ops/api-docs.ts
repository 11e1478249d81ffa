import { readFileSync } from 'node:fs';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { Config } from '../config/config.js';

/** The same path from `src/ops`, `dist/ops` and `dist/server`. */
const DOCUMENT = new URL('../../docs/openapi.json', import.meta.url);

/** The OpenAPI document, docs/openapi.json, with the base path of this server. */
export function apiDocument({ basePath }: Pick<Config, 'basePath'>): OpenAPIObject {
  const document = JSON.parse(readFileSync(DOCUMENT, 'utf8')) as OpenAPIObject;
  return { ...document, servers: [{ url: basePath || '/' }] };
}

/** Serves it at `/api/docs` for people and tools. The file is read at the first request. */
export function serveApiDocs(app: NestFastifyApplication): void {
  SwaggerModule.setup('api/docs', app, () => apiDocument(app.get(Config)));
}
