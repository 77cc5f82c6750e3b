import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { API_PREFIX } from '../configure.js';
import { Problem } from './api-errors.js';
import { describeErrors } from './refine.js';

export interface OpenApiOptions {
  version: string;
  /** Where clients reach the server, when it is not where the page came from. */
  publicUrl?: string;
  /** Additions of other parts of the application to the whole document. */
  refine?: (document: OpenAPIObject) => void;
}

/** The OpenAPI document of all routes. */
function createOpenApiDocument(
  app: NestFastifyApplication,
  options: OpenApiOptions,
): OpenAPIObject {
  const builder = new DocumentBuilder()
    .setTitle('Drover')
    .setDescription(
      `A control plane for fleets of agents. All paths of the API begin with /${API_PREFIX}; ` +
        'errors are application/problem+json with a stable `code`.',
    )
    .setVersion(options.version);
  if (options.publicUrl) builder.addServer(options.publicUrl);
  const document = SwaggerModule.createDocument(app, builder.build(), { extraModels: [Problem] });
  describeErrors(document);
  options.refine?.(document);
  return document;
}

/** Serves the document at /docs/openapi.json, and a page to read and try it at /docs. */
export function setupOpenApi(app: NestFastifyApplication, options: OpenApiOptions): void {
  // Made on the first visit: it takes longer than the rest of the start, and most servers never need it.
  SwaggerModule.setup('docs', app, () => createOpenApiDocument(app, options), {
    jsonDocumentUrl: 'docs/openapi.json',
    yamlDocumentUrl: 'docs/openapi.yaml',
    customSiteTitle: 'Drover API',
  });
}
