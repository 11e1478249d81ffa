import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';

/** The API as OpenAPI; `docs/openapi.json` is generated from it. */
export function describeApi(app: NestFastifyApplication): OpenAPIObject {
  const options = new DocumentBuilder()
    .setTitle('Patchbay')
    .setDescription("Routes an LLM's tool calls to where they can run, and keeps the record.")
    .setVersion('1')
    .addBearerAuth()
    .build();
  return SwaggerModule.createDocument(app, options);
}

/** The same for a browser, at /api/docs. Built when first asked for: nothing of it is needed to serve the API. */
export function serveApiDocs(app: NestFastifyApplication): void {
  SwaggerModule.setup('api/docs', app, () => describeApi(app));
}
